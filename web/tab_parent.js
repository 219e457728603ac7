// What TensorBoard tells the tab: its theme, and that its reload button was pressed.

/** @returns {Window | null} TensorBoard's window; null if it may not be looked at */
export function windowAround() {
  try {
    if (parent !== window && parent.document && parent.location.href) return parent;
  } catch {
    // A notebook or an editor may show TensorBoard from another host.
  }
  return null;
}

/**
 * @param {Window | null} around
 * @returns {"light" | "dark"}
 */
export function themeAround(around) {
  return around?.document.body.classList.contains("dark-mode") ? "dark" : "light";
}

/**
 * @param {Window | null} around
 * @param {() => void} listener called when TensorBoard's theme changed
 * @returns {void}
 */
export function listenToTheme(around, listener) {
  if (!around) return;
  let theme = themeAround(around);
  new MutationObserver(() => {
    if (theme === themeAround(around)) return;
    theme = themeAround(around);
    listener();
  }).observe(around.document.body, { attributes: true, attributeFilter: ["class"] });
}

/**
 * @param {() => void} listener called when TensorBoard loaded its data again
 * @returns {void}
 */
export function listenToReload(listener) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => {
    /** @type {{type: string, id: number, isReply: boolean}} */
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return;
    }
    if (message.isReply) return;
    port1.postMessage(JSON.stringify({ type: message.type, id: message.id, payload: null,
                                       error: null, isReply: true }));
    if (message.type === "experimental.DataReloaded") listener();
  };
  parent.postMessage("experimental.bootstrap", "*", [port2]);
}
