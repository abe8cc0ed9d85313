import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import {
  countFilters,
  DaysFilter,
  Filters,
  MeetingTypeFilter,
  TeamFilter,
  withoutEmpty,
} from "../common/lists/filters.tsx";
import { TypedFilter } from "../common/lists/typed-filter.tsx";
import { filtersOf, type LibrarySearch } from "./search-params.ts";

const page = getRouteApi("/signed-in/");

/** The library's filters, stored in the URL. */
export function LibraryFilters() {
  const { t } = useLingui();
  const search = page.useSearch();
  const navigate = page.useNavigate();
  const count = countFilters(filtersOf(search));
  const set = (change: LibrarySearch) =>
    navigate({ search: (before) => withoutEmpty({ ...before, ...change }), replace: true });
  return (
    <Filters
      count={count}
      clear={
        count > 0
          ? {
              text: t`Clear filters`,
              run: () =>
                navigate({
                  search: ({ view, sort }: LibrarySearch) => withoutEmpty({ view, sort }),
                  replace: true,
                }),
            }
          : null
      }
    >
      <TypedFilter
        label={t`Title`}
        placeholder={t`Filter by title`}
        icon={<IconSearch size={16} stroke={1.6} aria-hidden />}
        value={search.title ?? ""}
        onChange={(title) => set({ title })}
      />
      <DaysFilter value={search} onChange={set} />
      <TeamFilter value={search.team} onChange={(team) => set({ team })} />
      <MeetingTypeFilter value={search.type} onChange={(type) => set({ type })} />
      <Select
        aria-label={t`Participants`}
        placeholder={t`Anyone`}
        clearable
        data={[
          { value: "internal", label: t`Internal only` },
          { value: "external", label: t`With guests` },
        ]}
        value={search.scope ?? null}
        onChange={(scope) => set({ scope: (scope ?? undefined) as LibrarySearch["scope"] })}
      />
      <Select
        aria-label={t`My role`}
        placeholder={t`All roles`}
        clearable
        data={[
          { value: "hosted", label: t`I hosted` },
          { value: "attended", label: t`I attended` },
        ]}
        value={search.attendance ?? null}
        onChange={(attendance) =>
          set({ attendance: (attendance ?? undefined) as LibrarySearch["attendance"] })
        }
      />
    </Filters>
  );
}
