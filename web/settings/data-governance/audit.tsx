import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Select, Spoiler, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { auditActions } from "../../../contract/governance/audit-actions.ts";
import { type AuditEntry, type AuditFilter, auditExportUrl, auditQuery } from "../../api/settings/audit.ts";
import { managedUsersQuery, type User } from "../../api/settings/users.ts";
import { dayAndTime, fullTime } from "../../common/format/time.ts";
import { countFilters, DaysFilter, Filters, withoutEmpty } from "../../common/lists/filters.tsx";
import { LoadMore } from "../../common/lists/load-more.tsx";
import { recordingUrl } from "../../common/recording-url.ts";
import { ErrorState } from "../../common/states.tsx";
import { NoneYet, Row, Rows, RowsSkeleton, SettingsPage } from "../parts.tsx";
import classes from "../settings.module.css";
import { detailsInWords } from "./audit-details.ts";
import { actionInWords, credentials, subjectInWords } from "./audit-names.ts";

const page = getRouteApi("/signed-in/settings/audit");

/** The audit log with filters and export. */
export function AuditPage() {
  const { t } = useLingui();
  const search = page.useSearch();
  return (
    <SettingsPage
      title={t`Audit log`}
      lead={t`Who did what, when and from where. Entries can't be changed and are tamper-evident.`}
      action={
        <Button.Group>
          <Button
            component="a"
            href={auditExportUrl(search, "csv")}
            download
            variant="default"
            leftSection={<IconDownload size={16} />}
          >
            <Trans>CSV</Trans>
          </Button>
          <Button component="a" href={auditExportUrl(search, "jsonl")} download variant="default">
            <Trans>JSON lines</Trans>
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
  const { t } = useLingui();
  const navigate = page.useNavigate();
  const users = useQuery(managedUsersQuery).data?.users ?? [];
  const count = countFilters(search);
  const set = (change: AuditFilter) =>
    navigate({
      search: (before) => withoutEmpty({ ...before, ...change }),
      replace: true,
    });
  return (
    <Filters
      count={count}
      clear={
        count > 0 ? { text: t`Clear filters`, run: () => navigate({ search: {}, replace: true }) } : null
      }
    >
      <Select
        aria-label={t`Action`}
        placeholder={t`Any action`}
        clearable
        searchable
        data={auditActions.map((value) => ({ value, label: actionInWords(value) }))}
        value={search.action ?? null}
        onChange={(action) => set({ action: action ?? undefined })}
      />
      <Select
        aria-label={t`User`}
        placeholder={t`Anyone`}
        clearable
        searchable
        data={users.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` }))}
        value={search.user ?? null}
        onChange={(user) => set({ user: user ?? undefined })}
      />
      <DaysFilter value={search} onChange={set} />
    </Filters>
  );
}

function Entries({ search }: { search: AuditFilter }) {
  const { t } = useLingui();
  const users = useQuery(managedUsersQuery).data?.users ?? [];
  const query = useInfiniteQuery(auditQuery(search));
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const entries = query.data.pages.flatMap(({ entries }) => entries);
  if (entries.length === 0)
    return (
      <NoneYet>
        <Trans>No entries match these filters.</Trans>
      </NoneYet>
    );
  return (
    <div>
      <Rows label={t`Audit log`}>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} users={users} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

function Entry({ entry, users }: { entry: AuditEntry; users: readonly User[] }) {
  const { t } = useLingui();
  const details = detailsInWords(entry.details);
  return (
    <Row
      title={actionInWords(entry.action)}
      facts={[
        <time key="time" dateTime={entry.occurred_datetime} title={fullTime(entry.occurred_datetime)}>
          {dayAndTime(entry.occurred_datetime)}
        </time>,
        actorName(entry, users),
        wayOf(entry),
        subjectOf(entry, users),
        entry.ip,
      ]}
    >
      {details === "" ? null : (
        <Spoiler maxHeight={66} showLabel={t`Show all`} hideLabel={t`Show less`} mt={4}>
          <Text size="sm" c="dimmed" className={classes.details ?? ""}>
            {details}
          </Text>
        </Spoiler>
      )}
    </Row>
  );
}

function actorName(
  { credential, user_id: id, user_email: email }: AuditEntry,
  users: readonly User[],
): string {
  const who = users.find((user) => user.id === id)?.name ?? email;
  if (who === null && credential === "link") return t`Someone with a signed link`;
  return who ?? t`Not signed in`;
}

/** With which credential. */
function wayOf({ credential, user_id: id, user_email: email }: AuditEntry): string | null {
  if (credential === null || (credential === "link" && id === null && email === null)) return null;
  const way = credentials[credential];
  return way === undefined ? credential : i18n._(way);
}

/** The subject: accessible recordings by title, users by name, others by id. */
function subjectOf(entry: AuditEntry, users: readonly User[]): ReactNode {
  const { subject_type: type, subject_id: id, recording_title: title } = entry;
  if (type === null || id === null) return null;
  const kind = subjectInWords(type);
  const name = users.find((user) => user.id === id)?.name ?? id;
  return title === null ? (
    <Trans>
      {kind} {name}
    </Trans>
  ) : (
    <Trans>
      {kind} <Link to={recordingUrl(id)}>{title}</Link>
    </Trans>
  );
}
