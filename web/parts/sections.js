// Several tables of a view as tabs.
import { h } from "./dom.js";
import { scopedPage } from "./scoped_page.js";
import { tableView } from "./table.js";
import { emptyBox } from "./empty.js";

/** @typedef {import("../data/source.js").View} SectionsView */
/** @typedef {import("../data/source.js").Page} SectionsPage */

/** How many groups of tabs there were: two traces may be shown side by side. */
let tabGroups = 0;

/**
 * Panels as tabs; the chosen one is in the address. One panel has no tabs.
 * @param {{name: string, title: string, make: () => HTMLElement}[]} panels
 * @param {SectionsPage} page
 * @param {string} label for people who hear the page
 * @returns {HTMLElement}
 */
export function tabPanels(panels, page, label) {
  if (panels.length === 1) return panels[0].make();
  const group = ++tabGroups;
  const panel = h("div", { role: "tabpanel", id: `tab-panel-${group}` });
  /** @type {HTMLElement[]} */
  const buttons = [];
  /**
   * @param {number} place
   * @param {boolean} focus
   */
  const choose = (place, focus) => {
    buttons.forEach((button, other) => {
      button.setAttribute("aria-selected", String(other === place));
      button.setAttribute("tabindex", other === place ? "0" : "-1");
    });
    panel.setAttribute("aria-labelledby", buttons[place].id);
    panel.replaceChildren(panels[place].make());
    if (focus) buttons[place].focus();
  };
  /** @param {number} place */
  const pick = (place) => {
    page.set("table", place === 0 ? null : panels[place].name, true);
    choose(place, true);
  };
  panels.forEach(({ title }, place) => {
    buttons.push(h("button", {
      role: "tab", type: "button", id: `tab-${group}-${place}`, "aria-controls": panel.id,
      onclick: () => pick(place),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (!step) return;
        event.preventDefault();
        pick((place + step + panels.length) % panels.length);
      },
    }, title));
  });
  const chosen = panels.findIndex(({ name }) => name === page.get("table"));
  choose(Math.max(chosen, 0), false);
  return h("div", null, h("div", { class: "tabs", role: "tablist", "aria-label": label }, buttons),
           panel);
}

/**
 * The tables of a view as panels.
 * @param {SectionsView} view
 * @param {SectionsPage} page
 * @param {import("./table.js").TableLook} [look]
 * @returns {{name: string, title: string, make: () => HTMLElement}[]}
 */
export function tablePanels(view, page, look) {
  return view.tables.map((table, place) => ({
    name: table.name, title: table.title,
    make: () => tableView(table, place === 0 ? page : scopedPage(page, table.name), look),
  }));
}

/**
 * All tables of a view.
 * @param {SectionsView} view
 * @param {SectionsPage} page
 * @param {import("./table.js").TableLook} [look]
 * @returns {HTMLElement}
 */
export function tablesOf(view, page, look) {
  if (view.tables.length === 0) return emptyBox(null);
  return tabPanels(tablePanels(view, page, look), page, view.title);
}
