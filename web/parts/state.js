// What people see is in the address after `#`, so that links and the back button work, also in
// a file without a server.

/**
 * @param {string} hash with or without `#`
 * @returns {Map<string, string>}
 */
export function parseState(hash) {
  /** @type {Map<string, string>} */
  const values = new Map();
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (key !== "") values.set(key, value);
  }
  return values;
}

/**
 * @param {Map<string, string>} values
 * @returns {string} with `#`
 */
export function formatState(values) {
  // URLSearchParams would write `,` and `:` as codes: links are read by people too.
  return "#" + [...values].map(([key, value]) =>
    `${readableCode(key)}=${readableCode(value)}`).join("&");
}

/**
 * @param {string} text
 * @returns {string}
 */
function readableCode(text) {
  return encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3A/g, ":")
    .replace(/%2F/g, "/").replace(/%20/g, "+");
}

/** The state in the page's own address. */
export class AddressState {
  /** @param {Window} owner the window whose address it is */
  constructor(owner) {
    /** @private */
    this.owner = owner;
    /** @private @type {Map<string, string>} */
    this.values = parseState(owner.location.hash);
    /** @private @type {(() => void)[]} */
    this.listeners = [];
    /** @private */
    this.written = owner.location.hash;
    const changed = () => this.read();
    owner.addEventListener("hashchange", changed);
    owner.addEventListener("popstate", changed);
  }

  /**
   * @param {string} key
   * @returns {string | null}
   */
  get(key) {
    return this.values.get(key) ?? null;
  }

  /**
   * Changes values at once; null removes one. Listeners do not hear it: they caused it.
   * @param {{[key: string]: string | null}} changes
   * @param {boolean} [push] a new entry for the back button
   * @returns {void}
   */
  change(changes, push = false) {
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === "") this.values.delete(key);
      else this.values.set(key, value);
    }
    const hash = formatState(this.values);
    if (hash === this.written) return;
    this.written = hash;
    const history = this.owner.history;
    try {
      if (push) history.pushState(null, "", hash);
      else history.replaceState(null, "", hash);
    } catch {
      // Browsers limit how often a page may do this; the page itself goes on.
    }
  }

  /**
   * Calls back after the address changed by the back button or by hand.
   * @param {() => void} listener
   * @returns {void}
   */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** @private */
  read() {
    const hash = this.owner.location.hash;
    // The back button fires both events.
    if (hash === this.written || (hash === "" && this.written === "#")) return;
    this.written = hash;
    this.values = parseState(hash);
    for (const listener of this.listeners) listener();
  }
}
