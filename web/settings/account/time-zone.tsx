import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Session, sessionQuery } from "../../api/session.ts";
import { setTimeZone } from "../../api/settings/account.ts";
import { useAction } from "../../common/actions.tsx";
import { compareNames } from "../../common/format/names.ts";
import { Panel, Section } from "../parts.tsx";

const likeBrowser = "browser";

/** The time zone of times in emails; the app shows those of the browser. */
export function TimeZoneSection({ session }: { session: Session }) {
  const { t } = useLingui();
  const client = useQueryClient();
  const { time_zone: timeZone } = session.user;
  const save = useAction({
    run: (choice: string) => setTimeZone(choice === likeBrowser ? null : choice),
    onDone: (changed) => client.setQueryData(sessionQuery.queryKey, changed),
  });
  const names = useMemo(() => zones(timeZone), [timeZone]);
  const chosen = save.isPending ? save.variables : (timeZone ?? likeBrowser);
  return (
    <Section title={t`Time zone`} lead={t`For times in the emails you get.`}>
      <Panel>
        <Select
          aria-label={t`Time zone`}
          maw={420}
          searchable
          allowDeselect={false}
          nothingFoundMessage={t`No such time zone`}
          data={[{ value: likeBrowser, label: t`Same as the browser` }, ...names]}
          value={chosen}
          // Names of zones are English in every language.
          renderOption={({ option }) => (
            <span lang={option.value === likeBrowser ? undefined : "en"}>{option.label}</span>
          )}
          onChange={(choice) => save.mutate(choice ?? likeBrowser)}
        />
      </Panel>
    </Section>
  );
}

/** The browser's list has one name for each zone; the account may have another. */
function zones(chosen: string | null): readonly { readonly value: string; readonly label: string }[] {
  const names = new Set([...Intl.supportedValuesOf("timeZone"), "UTC", ...(chosen === null ? [] : [chosen])]);
  return [...names]
    .map((value) => ({ value, label: value.replaceAll("_", " ") }))
    .toSorted((a, b) => compareNames(a.label, b.label));
}
