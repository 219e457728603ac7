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

/**
 * How the state is written into an address.
 * @typedef {object} StateForm
 * @property {(hash: string) => Map<string, string>} read
 * @property {(hash: string, values: Map<string, string>) => string} write the address's present
 *   part after `#`, with these values instead of the state that it has; with `#`
 */

/**
 * The whole part after `#`.
 * @type {StateForm}
 */
const wholeForm = { read: parseState, write: (_hash, values) => formatState(values) };

/** The state in the address of a window. */
export class AddressState {
  /**
   * @param {Window} owner the window whose address it is
   * @param {StateForm} [form]
   */
  constructor(owner, form = wholeForm) {
    /** @private */
    this.owner = owner;
    /** @private */
    this.form = form;
    /** @private @type {Map<string, string>} */
    this.values = form.read(owner.location.hash);
    /** @private @type {(() => void)[]} */
    this.listeners = [];
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

  /** @returns {{[key: string]: string}} all values */
  all() {
    return Object.fromEntries(this.values);
  }

  /**
   * Changes values at once; null removes one. Listeners do not hear it: they caused it.
   * @param {{[key: string]: string | null}} changes
   * @param {boolean} [push] a new entry for the back button
   * @returns {void}
   */
  change(changes, push = false) {
    const before = formatState(this.values);
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === "") this.values.delete(key);
      else this.values.set(key, value);
    }
    if (formatState(this.values) === before) return;
    const { history } = this.owner;
    const address = this.link();
    try {
      // The window may keep something of its own in the entry.
      if (push) history.pushState(history.state, "", address);
      else history.replaceState(history.state, "", address);
    } catch {
      // Browsers limit how often a page may do this; the page itself goes on.
    }
  }

  /**
   * The full address of the present state, or of another one.
   * @param {{[key: string]: string | null}} [values] instead of all present ones
   * @returns {string}
   */
  link(values) {
    const { href, hash } = this.owner.location;
    const shown = values ? new Map(Object.entries(values).flatMap(([key, value]) =>
      value === null || value === "" ? [] : [[key, value]])) : this.values;
    return href.replace(/#[^]*$/, "") + this.form.write(hash, shown);
  }

  /**
   * Calls back after the state changed by the back button or by hand.
   * @param {() => void} listener
   * @returns {void}
   */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** @private */
  read() {
    const values = this.form.read(this.owner.location.hash);
    // The back button fires both events, and what else the address has may change.
    if (formatState(values) === formatState(this.values)) return;
    this.values = values;
    for (const listener of this.listeners) listener();
  }
}
