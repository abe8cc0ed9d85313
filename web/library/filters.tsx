import { Select } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { DaysFilter, Filters, MeetingTypeFilter, TeamFilter, withoutEmpty } from "../common/filters.tsx";
import { TypedFilter } from "../common/typed-filter.tsx";
import { isNarrowed, type LibrarySearch } from "./search-params.ts";

const page = getRouteApi("/signed-in/");

/** What the library is narrowed by; all of it stands in the address. */
export function LibraryFilters() {
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const set = (change: LibrarySearch) =>
    navigate({ search: (before) => withoutEmpty({ ...before, ...change }), replace: true });
  return (
    <Filters
      clear={
        isNarrowed(search)
          ? {
              text: "Clear",
              run: () =>
                navigate({ search: ({ view }: LibrarySearch) => withoutEmpty({ view }), replace: true }),
            }
          : null
      }
    >
      <TypedFilter
        label="Title"
        placeholder="Title has…"
        icon={<IconSearch size={16} stroke={1.6} aria-hidden />}
        value={search.title ?? ""}
        onChange={(title) => set({ title })}
      />
      <DaysFilter value={search} onChange={set} />
      <TeamFilter value={search.team} onChange={(team) => set({ team })} />
      <MeetingTypeFilter value={search.type} onChange={(type) => set({ type })} />
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
    </Filters>
  );
}
