/**
 * The new order of a story's highlights. What the editor can't see stays at its place, as far as the list reaches:
 * nobody removes what they do not know of.
 * @param wanted ids the editor names; all of them visible to the editor.
 * @param current the highlights as they are.
 */
export function mergeOrder(
  wanted: readonly string[],
  current: readonly { readonly highlight_id: string; readonly is_visible: boolean }[],
): string[] {
  const result = [...wanted];
  for (const [index, { highlight_id, is_visible }] of current.entries()) {
    if (is_visible || wanted.includes(highlight_id)) continue;
    result.splice(Math.min(index, result.length), 0, highlight_id);
  }
  return result;
}
