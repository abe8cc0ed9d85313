import { useLingui } from "@lingui/react/macro";
import { Select } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { knownLanguages, languages } from "../../../shared/languages.ts";
import { type Session, sessionQuery } from "../../api/session.ts";
import { setLanguage } from "../../api/settings/account.ts";
import { useAction } from "../../common/actions.tsx";
import { Panel, Section } from "../parts.tsx";

const likeBrowser = "browser";

/** The language of the app and of emails. */
export function LanguageSection({ session }: { session: Session }) {
  const { t } = useLingui();
  const client = useQueryClient();
  const { language } = session.user;
  const save = useAction({
    run: (choice: string) => setLanguage(choice === likeBrowser ? null : choice),
    onDone: (changed) => client.setQueryData(sessionQuery.queryKey, changed),
  });
  const chosen = save.isPending ? save.variables : (language ?? likeBrowser);
  return (
    <Section title={t`Language`} lead={t`For the app and the emails you get.`}>
      <Panel>
        <Select
          aria-label={t`Language`}
          maw={420}
          allowDeselect={false}
          data={[
            { value: likeBrowser, label: t`Same as the browser` },
            ...Object.entries(languages).map(([value, label]) => ({ value, label })),
            ...testLanguages(language).map((value) => ({ value, label: value })),
          ]}
          value={chosen}
          onChange={(choice) => save.mutate(choice ?? likeBrowser)}
        />
      </Panel>
    </Section>
  );
}

/** Pseudo-locales are offered only in a browser that asks for one, to translators and tests. */
function testLanguages(chosen: string | null): readonly string[] {
  const all = knownLanguages.filter((language) => !(language in languages));
  return [...navigator.languages, chosen ?? ""].some((language) => all.includes(language)) ? all : [];
}
