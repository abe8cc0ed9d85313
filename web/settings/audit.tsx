import { Button, Code, Select, Spoiler } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { auditActions } from "../../contract/audit-actions.ts";
import { type AuditEntry, type AuditFilter, auditExportAddress, auditQuery } from "../api/audit.ts";
import { type Person, peopleQuery } from "../api/people.ts";
import { LoadMore } from "../common/endless.tsx";
import { DaysFilter, Filters, withoutEmpty } from "../common/filters.tsx";
import { ErrorState } from "../common/states.tsx";
import { dayAndTime, fullTime } from "../common/time.ts";
import { recordingAddress } from "../library/recording-parts.tsx";
import { NoneYet, Row, Rows, RowsSkeleton, SettingsPage } from "./parts.tsx";
import classes from "./settings.module.css";

const page = getRouteApi("/signed-in/settings/audit");

/** Who did what, when and from where. */
export function AuditPage() {
  const search = page.useSearch();
  return (
    <SettingsPage
      title="Audit log"
      lead="Who did what, when and from where. Nothing in it can be changed: each entry is sealed with the one before."
      action={
        <Button.Group>
          <Button
            component="a"
            href={auditExportAddress(search, "csv")}
            download
            variant="default"
            leftSection={<IconDownload size={16} />}
          >
            CSV
          </Button>
          <Button component="a" href={auditExportAddress(search, "jsonl")} download variant="default">
            JSON lines
          </Button>
        </Button.Group>
      }
    >
      <AuditFilters search={search} />
      <Entries search={search} />
    </SettingsPage>
  );
}

function AuditFilters({ search }: { search: AuditFilter }) {
  const navigate = page.useNavigate();
  const people = useQuery(peopleQuery).data?.users ?? [];
  const set = (change: AuditFilter) =>
    navigate({
      search: (before) => withoutEmpty({ ...before, ...change }),
      replace: true,
    });
  return (
    <Filters>
      <Select
        aria-label="Action"
        placeholder="Any action"
        clearable
        searchable
        data={auditActions.map((value) => ({ value, label: inWords(value) }))}
        value={search.action ?? null}
        onChange={(action) => set({ action: action ?? undefined })}
      />
      <Select
        aria-label="Who"
        placeholder="Anybody"
        clearable
        searchable
        data={people.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` }))}
        value={search.user ?? null}
        onChange={(user) => set({ user: user ?? undefined })}
      />
      <DaysFilter value={search} onChange={set} />
    </Filters>
  );
}

function Entries({ search }: { search: AuditFilter }) {
  const people = useQuery(peopleQuery).data?.users ?? [];
  const query = useInfiniteQuery(auditQuery(search));
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const entries = query.data.pages.flatMap(({ entries }) => entries);
  if (entries.length === 0) return <NoneYet>No entry fits these filters.</NoneYet>;
  return (
    <div>
      <Rows label="Audit log">
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} people={people} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

const credentials: Readonly<Record<string, string>> = {
  session: "in a browser",
  personal_access_token: "with a personal token",
  workspace_access_token: "with a workspace token",
  oauth: "through an app",
  link: "by a signed link",
  cli: "on the command line",
};

function Entry({ entry, people }: { entry: AuditEntry; people: readonly Person[] }) {
  const details = Object.entries(entry.details);
  return (
    <Row
      title={inWords(entry.action)}
      facts={[
        <time key="time" dateTime={entry.occurred_datetime} title={fullTime(entry.occurred_datetime)}>
          {dayAndTime(entry.occurred_datetime)}
        </time>,
        whoOf(entry, people),
        subjectOf(entry, people),
        entry.ip,
      ]}
    >
      {details.length === 0 ? null : (
        <Spoiler maxHeight={66} showLabel="Show all" hideLabel="Show less" mt={4}>
          <Code block={false} className={classes.details ?? ""}>
            {details.map(([name, value]) => `${name}: ${inLine(value)}`).join(" · ")}
          </Code>
        </Spoiler>
      )}
    </Row>
  );
}

/** Who did it, and by what they were known. */
function whoOf(entry: AuditEntry, people: readonly Person[]): string {
  const { credential, user_id: id, user_email: email } = entry;
  const who = people.find((person) => person.id === id)?.name ?? email;
  if (who === null && credential === "link") return "Somebody with a signed link";
  const way = credential === null ? null : (credentials[credential] ?? credential);
  return [who ?? "Nobody signed in", way].filter((part) => part !== null).join(" ");
}

/** What it was done to: a recording that the reader sees by its title, people by their names, anything else by its id. */
function subjectOf(entry: AuditEntry, people: readonly Person[]): ReactNode {
  const { subject_type: type, subject_id: id, recording_title: title } = entry;
  if (type === null || id === null) return null;
  const kind = type.replaceAll("_", " ");
  if (title === null) return `${kind} ${people.find((person) => person.id === id)?.name ?? id}`;
  return (
    <>
      {kind} <Link to={recordingAddress(id)}>{title}</Link>
    </>
  );
}

function inLine(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `token_issued` as people read it: Token issued. */
function inWords(action: string): string {
  return action.charAt(0).toUpperCase() + action.slice(1).replaceAll("_", " ");
}
