import type { MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { type Component, systemQuery, type Testable, testComponent } from "../../api/settings/system.ts";
import { ServerText } from "../../causes/server-text.tsx";
import { errorText, useAction } from "../../common/actions.tsx";
import { lengthInWords, timeOfDay } from "../../common/format/time.ts";
import { Row, RowButton, Rows, Section, Tag } from "../parts.tsx";
import { withLabels } from "./setting-texts.ts";
import classes from "./system.module.css";

const labels: Readonly<Record<Component["component"], MessageDescriptor>> = {
  database: msg`Database`,
  storage: msg`File storage`,
  worker: msg`Background work`,
  backups: msg`Backups`,
  mail: msg({ message: "Email", context: "service" }),
  speech: msg`Speech model`,
  language_model: msg`Language model`,
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
const tests: Readonly<Partial<Record<Component["component"], MessageDescriptor>>> = {
  database: msg`Writing a transaction…`,
  storage: msg`Writing, reading and deleting a file…`,
  mail: msg`Sending an email to you…`,
  speech: msg`Transcribing a spoken sentence…`,
  language_model: msg`Asking for one word…`,
} satisfies Record<Testable, MessageDescriptor>;

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
  const label = t(labels[component]);
  const test = useAction({
    run: async () => ({
      ...(await testComponent(component as Testable)),
      at: new Date().toISOString(),
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
          <RowButton text={t`Test`} label={t`Test ${label}`} action={test} variant="default" />
        )
      }
    >
      <div role="status">
        <Text size="sm" c="dimmed" className={classes.explanation ?? ""}>
          {!test.isPending ? (
            <ServerText text={shown.explanation} shown={withLabels} />
          ) : doing === undefined ? null : (
            t(doing)
          )}
          {test.data !== undefined && !test.isPending ? <> {testedText(test.data)}</> : null}
        </Text>
        {test.isError ? (
          <Text size="sm" className={classes.remedy ?? ""}>
            {errorText(test.error)}
          </Text>
        ) : shown.remedy === null || test.isPending ? null : (
          <Text size="sm" className={classes.remedy ?? ""}>
            <ServerText text={shown.remedy} shown={withLabels} />
          </Text>
        )}
      </div>
    </Row>
  );
}

function testedText({ at, duration_ms }: { at: string; duration_ms: number }): string {
  const time = timeOfDay(at);
  const duration = lengthInWords(duration_ms);
  return t`(Tested at ${time}, took ${duration}.)`;
}
