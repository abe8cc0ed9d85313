import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { type Component, systemQuery, type Testable, testComponent } from "../../api/settings/system.ts";
import { errorText, useAction } from "../../common/actions.tsx";
import { lengthInWords, timeOfDay } from "../../common/format/time.ts";
import { Row, RowButton, Rows, Section, Tag } from "../parts.tsx";
import classes from "./system.module.css";

const labels: Readonly<Record<Component["component"], string>> = {
  database: "Database",
  storage: "File storage",
  worker: "Background work",
  backups: "Backups",
  mail: "Email",
  speech: "Speech model",
  language_model: "Language model",
};

const states = {
  ok: (
    <Tag tone="good">
      <Trans>Working</Trans>
    </Tag>
  ),
  failing: (
    <Tag tone="bad">
      <Trans>Failing</Trans>
    </Tag>
  ),
  off: (
    <Tag>
      <Trans>Not set up</Trans>
    </Tag>
  ),
} as const;

/** What the Test button of a component does; those without can't be tested. */
const tests: Readonly<Partial<Record<Component["component"], string>>> = {
  database: "Writing a transaction…",
  storage: "Writing, reading and deleting a file…",
  mail: "Sending an email to you…",
  speech: "Transcribing a spoken sentence…",
  language_model: "Asking for one word…",
} satisfies Record<Testable, string>;

/** The health of each component, with a button that tries it. */
export function Components({ components }: { components: readonly Component[] }) {
  const { t } = useLingui();
  return (
    <Section title={t`Components`} lead={t`Tests check a component now. The email test sends you an email.`}>
      <Rows label={t`Components`}>
        {components.map((one) => (
          <ComponentRow key={one.component} known={one} />
        ))}
      </Rows>
    </Section>
  );
}

function ComponentRow({ known }: { known: Component }) {
  const { t } = useLingui();
  const { component } = known;
  const label = labels[component];
  const test = useAction({
    run: async () => ({
      ...(await testComponent(component as Testable)),
      at: timeOfDay(new Date().toISOString()),
    }),
    refresh: [systemQuery.queryKey],
    showsError: true,
  });
  const shown = test.data ?? known;
  const doing = tests[component];
  return (
    <Row
      title={label}
      badges={states[shown.state]}
      actions={
        doing === undefined || known.state === "off" ? undefined : (
          <RowButton text={t`Test`} name={label} action={test} variant="default" />
        )
      }
    >
      <div role="status">
        <Text size="sm" c="dimmed" className={classes.explanation ?? ""}>
          {test.isPending ? doing : <Words text={shown.explanation} />}
          {test.data !== undefined && !test.isPending
            ? t` (Tested at ${test.data.at}, took ${lengthInWords(test.data.duration_ms)}.)`
            : null}
        </Text>
        {test.isError ? (
          <Text size="sm" className={classes.remedy ?? ""}>
            {errorText(test.error)}
          </Text>
        ) : shown.remedy === null || test.isPending ? null : (
          <Text size="sm" className={classes.remedy ?? ""}>
            <Words text={shown.remedy} />
          </Text>
        )}
      </div>
    </Row>
  );
}

/** Text whose commands are in backticks. */
export function Words({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change places.
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  );
}
