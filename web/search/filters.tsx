import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Autocomplete, Select } from "@mantine/core";
import { IconTag, IconUser } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { usersQuery } from "../api/directory.ts";
import {
  countFilters,
  DaysFilter,
  Filters,
  MeetingTypeFilter,
  TeamFilter,
  withoutEmpty,
} from "../common/lists/filters.tsx";
import { TypedFilter } from "../common/lists/typed-filter.tsx";
import { useTypedText } from "../common/lists/use-typed-text.ts";
import { filtersOf, type SearchParams } from "./search-params.ts";

const page = getRouteApi("/signed-in/search");

const mediaTypes = [
  { value: "video", label: msg`Video` },
  { value: "audio", label: msg`Audio` },
  { value: "transcript", label: msg`Transcript only` },
];

/** The search filters, stored in the URL. */
export function SearchFilters() {
  const { t } = useLingui();
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const count = countFilters(filtersOf(search));
  const set = (change: SearchParams) =>
    navigate({ search: (before) => withoutEmpty({ ...before, ...change }), replace: true });
  return (
    <Filters
      count={count}
      clear={
        count > 0
          ? {
              text: t`Clear filters`,
              run: () =>
                navigate({ search: ({ q, sort }: SearchParams) => withoutEmpty({ q, sort }), replace: true }),
            }
          : null
      }
    >
      <DaysFilter value={search} onChange={set} />
      <PersonFilter value={search.person ?? ""} onChange={(person) => set({ person })} />
      <TeamFilter value={search.team} onChange={(team) => set({ team })} />
      <MeetingTypeFilter value={search.type} onChange={(type) => set({ type })} />
      <TypedFilter
        label={t`Tag`}
        placeholder={t`Any tag`}
        icon={<IconTag size={16} stroke={1.6} aria-hidden />}
        value={search.tag ?? ""}
        onChange={(tag) => set({ tag })}
      />
      <Select
        aria-label={t`Media type`}
        placeholder={t`Any type`}
        clearable
        data={mediaTypes.map(({ value, label }) => ({ value, label: t(label) }))}
        value={search.media ?? null}
        onChange={(media) => set({ media: (media ?? undefined) as SearchParams["media"] })}
      />
    </Filters>
  );
}

/** Filters by participant: a user of the workspace, or any name or email. */
function PersonFilter({ value, onChange }: { value: string; onChange: (value: string | undefined) => void }) {
  const { t } = useLingui();
  const users = useQuery(usersQuery);
  const [text, change] = useTypedText(value, onChange);
  return (
    <Autocomplete
      aria-label={t`Person`}
      placeholder={t`Anyone`}
      clearable
      leftSection={<IconUser size={16} stroke={1.6} aria-hidden />}
      data={[...new Set((users.data?.users ?? []).map(({ name }) => name))]}
      limit={20}
      value={text}
      onChange={change}
    />
  );
}
