// The views in groups, each with a key of its own: the keys do not depend on which views there are.

/**
 * @typedef {object} GroupedView
 * @property {string} name
 * @property {string} title
 * @property {string} key empty: none
 */

/** @type {[string, [string, string][]][]} title of the group, and its views with their keys */
const viewGroups = [
  ["", [["ranks", "r"], ["summary", "1"], ["timeline", "2"]]],
  ["Time", [["steps", "3"], ["operators", "4"], ["kernels", "5"], ["gpu", "6"], ["lines", "7"], ["flame_graph", "8"],
    ["serving", ""]]],
  ["Memory and model", [["memory", "9"], ["modules", "0"], ["model", ""], ["flops", ""]]],
  ["Recording", [["threads", ""], ["checks", ""], ["plugin", ""], ["sql", ""]]],
];

/**
 * @param {{name: string, title: string}[]} views
 * @returns {{title: string, views: GroupedView[]}[]} groups with views; a view that no group names is in the first one
 */
export function groupedViews(views) {
  const named = new Set(viewGroups.flatMap(([, list]) => list.map(([name]) => name)));
  const others = views.filter(({ name }) => !named.has(name)).map((view) => ({ ...view, key: "" }));
  return viewGroups.map(([title, list], place) => ({ title, views: [
    ...list.flatMap(([name, key]) => {
      const view = views.find((one) => one.name === name);
      return view ? [{ ...view, key }] : [];
    }), ...place === 0 ? others : []] })).filter((group) => group.views.length > 0);
}

/**
 * @param {{name: string, title: string}[]} views
 * @param {string} key
 * @returns {GroupedView | null}
 */
export function viewOfKey(views, key) {
  return groupedViews(views).flatMap((group) => group.views).find((view) => view.key !== "" && view.key === key) ?? null;
}
