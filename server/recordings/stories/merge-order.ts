/**
 * The new order of a story's highlights. Highlights that the editor can't see keep their positions as far as the list
 * reaches, so that an editor can't remove them unknowingly.
 * @param wanted the ids in the editor's order, all visible to the editor.
 * @param current the current highlights.
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
