import { t } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Button, Group, Select } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { daysPickerProps } from "../format/calendar.ts";
import { dateOf } from "../format/time.ts";
import "@mantine/dates/styles.css";
import { IconCalendar, IconFilter, IconFilterOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { meetingTypesQuery, teamsQuery } from "../../api/directory.ts";
import { lazyDialog } from "../dialogs/lazy-dialog.tsx";
import { useWider } from "../use-wider.ts";
import type { FilterSheetProps } from "./filter-sheet.tsx";
import classes from "./filters.module.css";
import { ClearedContext } from "./use-typed-text.ts";

const FilterSheet = lazyDialog<FilterSheetProps>({
  load: async () => (await import("./filter-sheet.tsx")).FilterSheet,
  isOpen: ({ isOpen }) => isOpen,
  closed: { isOpen: false },
});

/**
 * A row of filters, with a button that clears them if any is set. On phones a button opens them.
 * @param props.count how many are set.
 */
export function Filters(props: {
  children: ReactNode;
  count?: number;
  clear?: { text: string; run: () => void } | null;
}) {
  const { t } = useLingui();
  const { children, count = 0, clear = null } = props;
  const isPhone = !useWider("sm");
  const [isOpen, setOpen] = useState(false);
  const [cleared, setCleared] = useState(0);
  const clearButton =
    clear === null ? null : (
      <Button
        variant="subtle"
        color="gray"
        leftSection={<IconFilterOff size={16} />}
        onClick={() => {
          setCleared(cleared + 1);
          clear.run();
        }}
      >
        {clear.text}
      </Button>
    );
  const fields = <ClearedContext value={cleared}>{children}</ClearedContext>;
  if (isPhone)
    return (
      <Group gap="xs">
        <Button
          variant="default"
          leftSection={<IconFilter size={16} aria-hidden />}
          aria-haspopup="dialog"
          onClick={() => setOpen(true)}
        >
          {count === 0 ? t`Filters` : t`Filters (${count})`}
        </Button>
        {clearButton}
        <FilterSheet isOpen={isOpen} onClose={() => setOpen(false)}>
          {fields}
        </FilterSheet>
      </Group>
    );
  return (
    <fieldset className={classes.filters} aria-label={t`Filters`}>
      {fields}
      {clearButton}
    </fieldset>
  );
}

/** How many filters are set; both ends of a range of dates are one. */
export function countFilters(filters: object): number {
  const { from, to, ...others } = filters as Days;
  const isSet = (value: unknown) => value !== undefined;
  return (isSet(from ?? to) ? 1 : 0) + Object.values(others).filter(isSet).length;
}

/** Days as `YYYY-MM-DD`, both inclusive. */
interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Ranges that people often want, ending today. */
function presets(): { value: [string, string]; label: string }[] {
  const today = new Date();
  const ago = (days: number) =>
    dateOf(new Date(today.getFullYear(), today.getMonth(), today.getDate() - days));
  return [
    { value: [ago(0), ago(0)], label: t`Today` },
    { value: [ago(6), ago(0)], label: t`Last 7 days` },
    { value: [ago(29), ago(0)], label: t`Last 30 days` },
    { value: [dateOf(new Date(today.getFullYear(), today.getMonth(), 1)), ago(0)], label: t`This month` },
    { value: [dateOf(new Date(today.getFullYear(), 0, 1)), ago(0)], label: t`This year` },
  ];
}

export function DaysFilter({ value, onChange }: { value: Days; onChange: (days: Days) => void }) {
  const { t } = useLingui();
  // The first day of a range that is being chosen.
  const [first, setFirst] = useState<string | null>(null);
  return (
    <DatePickerInput
      {...daysPickerProps()}
      type="range"
      aria-label={value.from ? undefined : t`Any date`}
      placeholder={t`Any date`}
      clearable
      allowSingleDateInRange
      presets={presets()}
      classNames={{ datePickerRoot: classes.picker ?? "", presetsList: classes.presets ?? "" }}
      leftSection={<IconCalendar size={16} stroke={1.6} aria-hidden />}
      value={first === null ? [value.from ?? null, value.to ?? null] : [first, null]}
      // Not called with null by the button that clears: closing the calendar does so when the range has no last day yet.
      onChange={([from, to]) => {
        setFirst(to === null ? from : null);
        if (from !== null && to !== null) onChange({ from, to });
      }}
      clearButtonProps={{
        onClick: () => {
          setFirst(null);
          onChange({ from: undefined, to: undefined });
        },
      }}
    />
  );
}

interface IdFilter {
  /** The id of the selected item. */
  readonly value: string | undefined;
  readonly onChange: (id: string | undefined) => void;
}

/** Filters by a team that recordings are shared with. */
export function TeamFilter({ value, onChange }: IdFilter) {
  const { t } = useLingui();
  const teams = useQuery(teamsQuery).data?.teams ?? [];
  return <NamedFilter label={t`Team`} none={t`Any team`} items={teams} value={value} onChange={onChange} />;
}

export function MeetingTypeFilter({ value, onChange }: IdFilter) {
  const { t } = useLingui();
  const types = useQuery(meetingTypesQuery).data?.meeting_types ?? [];
  return (
    <NamedFilter
      label={t`Meeting type`}
      none={t`Any meeting type`}
      items={types}
      value={value}
      onChange={onChange}
    />
  );
}

function NamedFilter(
  props: IdFilter & {
    label: string;
    none: string;
    items: readonly { readonly id: string; readonly name: string }[];
  },
) {
  return (
    <Select
      aria-label={props.label}
      placeholder={props.none}
      clearable
      searchable
      data={props.items.map(({ id, name }) => ({ value: id, label: name }))}
      value={props.value ?? null}
      onChange={(id) => props.onChange(id ?? undefined)}
    />
  );
}

/** Search parameters without the undefined ones. */
export function withoutEmpty<Search extends object>(search: Search): Search {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as Search;
}
