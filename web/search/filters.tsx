import { Autocomplete, Button, Select } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import "@mantine/dates/styles.css";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconCalendar, IconFilterOff, IconTag, IconUser } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { meetingTypesQuery, teamsQuery, usersQuery } from "../api/recordings.ts";
import { TypedFilter } from "../common/typed-filter.tsx";
import classes from "./search.module.css";
import { isNarrowed, type SearchParams } from "./search-params.ts";

const page = getRouteApi("/signed-in/search");

const mediaTypes = [
  { value: "video", label: "Video" },
  { value: "audio", label: "Audio" },
  { value: "transcript", label: "Transcript only" },
];

/** What the search is narrowed by; all of it stands in the address. */
export function SearchFilters() {
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const teams = useQuery(teamsQuery);
  const types = useQuery(meetingTypesQuery);
  const set = (change: SearchParams) =>
    navigate({ search: (before) => withoutEmpty({ ...before, ...change }), replace: true });
  return (
    <fieldset className={classes.filters} aria-label="Filters">
      <DatePickerInput
        type="range"
        aria-label={search.from ? undefined : "Any day"}
        placeholder="Any day"
        clearable
        allowSingleDateInRange
        leftSection={<IconCalendar size={16} stroke={1.6} aria-hidden />}
        value={[search.from ?? null, search.to ?? null]}
        onChange={([from, to]) => set({ from: from ?? undefined, to: to ?? undefined })}
      />
      <PersonFilter value={search.person ?? ""} onChange={(person) => set({ person })} />
      <Select
        aria-label="Team"
        placeholder="Any team"
        clearable
        searchable
        data={(teams.data?.teams ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={search.team ?? null}
        onChange={(team) => set({ team: team ?? undefined })}
      />
      <Select
        aria-label="Meeting type"
        placeholder="Any type"
        clearable
        searchable
        data={(types.data?.meeting_types ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={search.type ?? null}
        onChange={(type) => set({ type: type ?? undefined })}
      />
      <TypedFilter
        label="Tag"
        placeholder="Any tag"
        icon={<IconTag size={16} stroke={1.6} aria-hidden />}
        value={search.tag ?? ""}
        onChange={(tag) => set({ tag })}
      />
      <Select
        aria-label="Kind of recording"
        placeholder="Any kind"
        clearable
        data={mediaTypes}
        value={search.media ?? null}
        onChange={(media) => set({ media: (media ?? undefined) as SearchParams["media"] })}
      />
      {isNarrowed(search) ? (
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconFilterOff size={16} />}
          onClick={() => navigate({ search: ({ q }: SearchParams) => withoutEmpty({ q }), replace: true })}
        >
          Clear filters
        </Button>
      ) : null}
    </fieldset>
  );
}

const typingPauseMs = 500;

/** Who took part: one of the workspace, or whatever name or email is typed. */
function PersonFilter({ value, onChange }: { value: string; onChange: (value: string | undefined) => void }) {
  const users = useQuery(usersQuery);
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const tell = useDebouncedCallback((next: string) => onChange(next.trim() || undefined), typingPauseMs);
  return (
    <Autocomplete
      aria-label="Person"
      placeholder="Anybody"
      clearable
      leftSection={<IconUser size={16} stroke={1.6} aria-hidden />}
      data={[...new Set((users.data?.users ?? []).map(({ name }) => name))]}
      limit={20}
      value={text}
      onChange={(next) => {
        setText(next);
        tell(next);
      }}
    />
  );
}

function withoutEmpty(search: SearchParams): SearchParams {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
}
