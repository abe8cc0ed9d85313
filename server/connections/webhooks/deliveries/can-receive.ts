/**
 * SQL: whether the owner of a hook `h` of a workspace `w` can see the subject of an event `e` at this moment. A workspace hook
 * receives everything. Where no grants are left to check, because the subject was deleted, the event itself lists who could
 * see it.
 * @param alias of the row that has the event's `recording_id`: the event, or its delivery.
 */
export function canReceive(alias: "e" | "d"): string {
  return `(h.scope = 'workspace' or exists (
    select 1 from users u where u.id = h.created_by and u.deactivated_at is null and (
      case
        when e.audience is not null then e.audience && parley_principals(u.id, w.members_id)
        when ${alias}.recording_id is not null then exists (
          select 1 from recording_grants g where g.recording_id = ${alias}.recording_id
            and g.principal_id = any(parley_principals(u.id, w.members_id)))
        else true
      end)))`;
}
