import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import type { AskFilter } from "../api/ask.ts";
import { meetingTypesQuery, teamsQuery } from "../api/directory.ts";
import { type LibraryFilter, toLibraryFilter } from "../api/library/list.ts";
import { type SearchFilter, toSearchQuery } from "../api/library/search.ts";
import { day } from "../common/format/time.ts";
import { AskBox } from "./box.tsx";
import { conversationAt } from "./conversation.ts";

/** Questions about all meetings that the filters of the library match. */
export function LibraryAskBox({ filter }: { filter: LibraryFilter }) {
  return <MeetingsBox filter={toLibraryFilter(filter)} words={useWords(filter)} />;
}

/** Questions about all meetings that the filters of the search page match. */
export function SearchAskBox({ search }: { search: SearchFilter }) {
  const { q: _q, sort: _sort, ...filter } = toSearchQuery(search);
  return <MeetingsBox filter={filter} words={useWords(search)} />;
}

function MeetingsBox({ filter, words }: { filter: AskFilter; words: readonly string[] }) {
  const { t } = useLingui();
  return (
    <AskBox
      conversation={conversationAt("all", null)}
      label={t`Ask your meetings`}
      filter={filter}
      filterWords={words}
    />
  );
}

const choices = {
  scope: { internal: msg`internal only`, external: msg`with guests` },
  attendance: { hosted: msg`I hosted`, attended: msg`I attended` },
  media: { video: msg`video`, audio: msg`audio`, transcript: msg`transcript only` },
} as const;

/** The filters in words, in the order of the fields. */
function useWords(filter: Omit<LibraryFilter & SearchFilter, "sort">): string[] {
  const { t } = useLingui();
  const teams = useQuery({ ...teamsQuery, enabled: filter.team !== undefined }).data?.teams ?? [];
  const types =
    useQuery({ ...meetingTypesQuery, enabled: filter.type !== undefined }).data?.meeting_types ?? [];
  const nameOf = (items: readonly { id: string; name: string }[], id: string | undefined) =>
    items.find((item) => item.id === id)?.name ?? "…";
  const { title, from, to, person, team, type, tag, media, scope, attendance, favorite } = filter;
  const [first, last] = [from, to].map((date) => date && day(`${date}T00:00:00`));
  const [teamName, typeName] = [nameOf(teams, team), nameOf(types, type)];
  return [
    favorite ? t`favorites` : null,
    title ? t`title “${title}”` : null,
    first ? t`from ${first}` : null,
    last ? t`to ${last}` : null,
    person ? t`person ${person}` : null,
    team ? t`team ${teamName}` : null,
    type ? t`meeting type ${typeName}` : null,
    tag ? t`tag ${tag}` : null,
    media ? t(choices.media[media]) : null,
    scope ? t(choices.scope[scope]) : null,
    attendance ? t(choices.attendance[attendance]) : null,
  ].filter((word) => word !== null);
}
