import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Group, Skeleton, Stack, Text, Title, VisuallyHidden } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import classes from "./settings.module.css";

/** The layout of a settings page: title, description, main action and content. */
export function SettingsPage(props: {
  title: string;
  lead: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}) {
  const { t } = useLingui();
  const { title } = props;
  useTitle(t`${title} · Settings`);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div className={classes.head}>
          <Title order={1} size="h2">
            {title}
          </Title>
          <Text c="dimmed" mt={4}>
            {props.lead}
          </Text>
        </div>
        {props.action}
      </Group>
      {props.children}
    </Stack>
  );
}

/** A section of a page with its own heading. */
export function Section(props: { title: string; lead?: ReactNode; action?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={props.title}>
      <Group justify="space-between" align="flex-end" gap="sm" mb="sm">
        <div className={classes.sectionHead}>
          <Title order={2} size="h4">
            {props.title}
          </Title>
          {props.lead === undefined ? null : (
            <Text c="dimmed" size="sm">
              {props.lead}
            </Text>
          )}
        </div>
        {props.action}
      </Group>
      {props.children}
    </section>
  );
}

/** A link to a section of Settings → Server settings. */
export function ServerSettingsLink({ section }: { section: string }) {
  return (
    <Anchor component={Link} to="/settings/server" hash={section} inherit c="inherit" underline="always">
      <Trans>Server settings</Trans>
    </Anchor>
  );
}

/** A frame around a form or facts. */
export function Panel({ children }: { children: ReactNode }) {
  return <div className={classes.panel}>{children}</div>;
}

/** A list of rows. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={classes.rows} aria-label={label}>
      {children}
    </ul>
  );
}

/** A button in a row that starts an action at once. @param label the text and what it acts on, for screen readers. */
export function RowButton(props: {
  text: string;
  label: string;
  action: { readonly isPending: boolean; mutate(): void };
  variant?: "default" | "subtle";
}) {
  const { text, label, action, variant = "subtle" } = props;
  return (
    <Button
      variant={variant}
      size="compact-sm"
      loading={action.isPending}
      aria-label={label}
      onClick={() => action.mutate()}
    >
      {text}
    </Button>
  );
}

/** A list row: title, badges, facts and actions. */
export function Row(props: {
  title: ReactNode;
  badges?: ReactNode;
  facts?: readonly ReactNode[];
  actions?: ReactNode;
  children?: ReactNode;
}) {
  const facts = (props.facts ?? []).filter((fact) => fact !== null && fact !== undefined && fact !== false);
  return (
    <li className={classes.row}>
      <div className={classes.rowMain}>
        <div className={classes.rowTitle}>
          <span>{props.title}</span>
          {props.badges}
        </div>
        {facts.length === 0 ? null : (
          <div className={classes.facts}>
            {facts.map((fact, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes.
              <span key={index}>{fact}</span>
            ))}
          </div>
        )}
        {props.children}
      </div>
      {props.actions === undefined ? null : <div className={classes.rowActions}>{props.actions}</div>}
    </li>
  );
}

/** Renders a query's data, or a placeholder while loading, or its error. */
export function Loaded<Data>(props: {
  query: UseQueryResult<Data, Error>;
  children: (data: Data) => ReactNode;
}) {
  const { query } = props;
  if (query.data !== undefined) return props.children(query.data);
  if (query.isError) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  return <RowsSkeleton />;
}

export function RowsSkeleton() {
  return (
    <div className={classes.rows} aria-busy="true">
      <VisuallyHidden role="status">
        <Trans>Loading</Trans>
      </VisuallyHidden>
      {[0, 1, 2].map((index) => (
        <div key={index} className={classes.row}>
          <div className={classes.rowMain}>
            <Skeleton height={15} width="40%" mb={10} />
            <Skeleton height={12} width="65%" />
          </div>
        </div>
      ))}
    </div>
  );
}

/** The text of an empty list. */
export function NoneYet({ children }: { children: ReactNode }) {
  return (
    <div className={classes.none}>
      <Text c="dimmed" ta="center">
        {children}
      </Text>
    </div>
  );
}

/** A status tag. */
export function Tag(props: { tone?: "accent" | "good" | "warn" | "bad" | undefined; children: ReactNode }) {
  return (
    <span className={classes.tag} data-tone={props.tone}>
      {props.children}
    </span>
  );
}

/** Text as it was sent or returned, which scrolls. */
export function Pre({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard (WCAG 2.1.1).
    <section className={classes.pre} tabIndex={0} aria-label={label}>
      {text}
    </section>
  );
}

/** For pages where users look for a chat first. */
export function DeliveriesHint() {
  return (
    <Trans>
      To send summaries to Slack or Microsoft Teams, use{" "}
      <Anchor component={Link} to="/settings/deliveries" underline="always">
        Deliveries
      </Anchor>
      .
    </Trans>
  );
}
