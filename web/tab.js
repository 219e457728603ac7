// The entry of the tab: TensorBoard imports it into the frame of the plugin, and calls render().
import { h } from "./parts/dom.js";
import { AddressState } from "./parts/state.js";
import { HttpSource } from "./data/http_source.js";
import { pluginForm } from "./tab_address.js";
import { windowAround } from "./tab_parent.js";
import { TabApp } from "./tab_app.js";

/** A page without its style is better than none, in milliseconds. */
const longestForStyle = 5000;

/**
 * The sheet of the same version as this script.
 * @returns {Promise<void>} when it is there, or when it is sure that it will not come
 */
function styled() {
  const script = new URL(import.meta.url);
  return new Promise((resolve) => {
    setTimeout(resolve, longestForStyle);
    document.head.append(h("link", {
      rel: "stylesheet", href: new URL(`tab.css${script.search}`, script).href,
      onload: () => resolve(), onerror: () => resolve(),
    }));
  });
}

/**
 * TensorBoard calls it once.
 * @returns {Promise<void>}
 */
export async function render() {
  await styled();
  const root = h("div", { id: "app" });
  document.body.append(root);
  document.documentElement.classList.add("tab");
  const around = windowAround();
  const source = new HttpSource(new URL("./", document.baseURI).href);
  await new TabApp(source, new AddressState(around ?? window, pluginForm("tbtrace")), root, around)
    .start();
}
