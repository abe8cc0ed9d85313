/*
 * Which recordings are sent, as SQL, for the fan-out and again before each attempt. `r` is the recording, `t` the row of
 * destinations, `h` its hook.
 */

/** Whether the recording meets the conditions. One that names a deleted team or meeting type is met by none. */
export const meetsConditions = `(
  (t.conditions->>'team_id' is null or exists (
    select 1 from recording_teams x where x.recording_id = r.id and x.team_id = (t.conditions->>'team_id')::uuid))
  and (t.conditions->>'meeting_type_id' is null or r.meeting_type_id = (t.conditions->>'meeting_type_id')::uuid)
  and (t.conditions->>'tag' is null or exists (
    select 1 from unnest(r.tags) x (tag) where parley_lower(x.tag) = parley_lower(t.conditions->>'tag')))
  and (t.conditions->>'scope' is null or r.external = (t.conditions->>'scope' = 'external'))
  and (t.conditions->>'title' is null or parley_fold(r.title) like parley_contains(t.conditions->>'title')))`;

/** Whether there is something to send: a summary, or a transcript where no model writes a summary. */
export const hasContent = `(
  coalesce(r.ai_summary, '') <> '' or exists (select 1 from transcript_segments x where x.recording_id = r.id))`;

/** Whether an import of another system brought it in: it is not announced to people, who would get years of meetings at once. */
export const isImported = `exists (
  select 1 from uploads u join import_items i on i.upload_id = u.id where u.recording_id = r.id)`;

/** Whether the recording became ready after the delivery was created. */
export const isNews = `(
  greatest(r.created_at,
    (select max(x.finished_at) from intelligence_runs x where x.recording_id = r.id),
    (select max(x.updated_at) from transcriptions x where x.recording_id = r.id and x.status = 'done')) >= h.inserted_at
  and not ${isImported})`;

/** Whether the recording exists and is not in the trash. */
export const isPresent = `(
  r.id is not null and not exists (select 1 from trashed_recordings x where x.recording_id = r.id))`;
