import { Button, Select } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import "@mantine/dates/styles.css";
import { IconCalendar, IconFilterOff, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { meetingTypesQuery, teamsQuery } from "../api/recordings.ts";
import { TypedFilter } from "../common/typed-filter.tsx";
import classes from "./library.module.css";
import { isNarrowed, type LibrarySearch } from "./search-params.ts";

const page = getRouteApi("/signed-in/");

/** What the library is narrowed by; all of it stands in the address. */
export function LibraryFilters() {
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const teams = useQuery(teamsQuery);
  const types = useQuery(meetingTypesQuery);
  const set = (change: LibrarySearch) =>
    navigate({ search: (before) => withoutEmpty({ ...before, ...change }), replace: true });
  return (
    <fieldset className={classes.filters} aria-label="Filters">
      <TypedFilter
        label="Title"
        placeholder="Title has…"
        icon={<IconSearch size={16} stroke={1.6} aria-hidden />}
        value={search.title ?? ""}
        onChange={(title) => set({ title })}
      />
      <DatePickerInput
        type="range"
        size="sm"
        aria-label={search.from ? undefined : "Any day"}
        placeholder="Any day"
        clearable
        allowSingleDateInRange
        leftSection={<IconCalendar size={16} stroke={1.6} aria-hidden />}
        value={[search.from ?? null, search.to ?? null]}
        onChange={([from, to]) => set({ from: from ?? undefined, to: to ?? undefined })}
      />
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
      <Select
        aria-label="Who took part"
        placeholder="Anybody"
        clearable
        data={[
          { value: "internal", label: "Team only" },
          { value: "external", label: "With others" },
        ]}
        value={search.scope ?? null}
        onChange={(scope) => set({ scope: (scope ?? undefined) as LibrarySearch["scope"] })}
      />
      <Select
        aria-label="My part"
        placeholder="Everything"
        clearable
        data={[
          { value: "hosted", label: "I hosted" },
          { value: "attended", label: "I attended" },
        ]}
        value={search.attendance ?? null}
        onChange={(attendance) =>
          set({ attendance: (attendance ?? undefined) as LibrarySearch["attendance"] })
        }
      />
      {isNarrowed(search) ? (
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconFilterOff size={16} />}
          onClick={() =>
            navigate({ search: ({ view }: LibrarySearch) => withoutEmpty({ view }), replace: true })
          }
        >
          Clear
        </Button>
      ) : null}
    </fieldset>
  );
}

function withoutEmpty(search: LibrarySearch): LibrarySearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
}
