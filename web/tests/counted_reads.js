// How often a list's elements are read: what a function costs, on any machine.

/**
 * @template {ArrayLike<any>} List
 * @param {List} list
 * @returns {{list: List, reads: () => number}} the same list, and how many reads there were since the last question
 */
export function countedReads(list) {
  let count = 0;
  const counted = new Proxy(list, {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) ++count;
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(counted) : value;
    },
  });
  return { list: counted, reads: () => {
    const reads = count;
    count = 0;
    return reads;
  } };
}
