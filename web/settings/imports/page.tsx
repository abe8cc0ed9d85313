import type { MessageDescriptor } from "@lingui/core";
import { msg, plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, PasswordInput, Progress, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isUnencrypted } from "../../../contract/accounts/redirect-target.ts";
import {
  cancelImportRun,
  createImportRun,
  type ImportRun,
  importRunsQuery,
  isRunning,
} from "../../api/settings/imports.ts";
import { updateWorkspace, type Workspace, workspaceQuery } from "../../api/settings/workspace.ts";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";
import { ServerText } from "../../common/format/server-text.tsx";
import { dayAndTime } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Loaded, Panel, Row, Rows, Section, SettingsPage } from "../parts.tsx";
import { Report } from "./report.tsx";

const refresh = [importRunsQuery.queryKey];

/** Imports from Grain or another Parley, with their reports. */
export function ImportsPage() {
  const { t } = useLingui();
  const runs = useQuery(importRunsQuery);
  const workspace = useQuery(workspaceQuery);
  return (
    <SettingsPage
      title={t`Imports`}
      lead={t`Import everything that an access token can see in Grain or another Parley. Recordings that were imported before are skipped.`}
    >
      <Section title={t`New import`}>
        <ImportForm />
      </Section>
      <Section title={t`Latest imports`}>
        <Loaded query={runs}>
          {({ runs }) =>
            runs.length === 0 ? (
              <Text c="dimmed">
                <Trans>No imports yet.</Trans>
              </Text>
            ) : (
              <Rows label={t`Imports`}>
                {runs.map((run) => (
                  <RunRow key={run.id} run={run} />
                ))}
              </Rows>
            )
          }
        </Loaded>
      </Section>
      <Section title={t`Old links`}>
        <Loaded query={workspace}>{(workspace) => <OldIds workspace={workspace} />}</Loaded>
      </Section>
    </SettingsPage>
  );
}

function ImportForm() {
  const { t } = useLingui();
  const [url, setUrl] = useState("");
  const [token, setToken] = useState("");
  const [allowsHttp, setAllowsHttp] = useState(false);
  const start = useAction<boolean>({
    run: (dryRun) =>
      createImportRun({ base_url: url, token, dry_run: dryRun, ...(allowsHttp ? { allow_http: true } : {}) }),
    refresh,
    showsError: true,
  });
  const errors = fieldErrors(start.error);
  const isEmpty = url.trim() === "" || token.trim() === "";
  return (
    <Panel>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate(true);
        }}
      >
        <Stack gap="sm" maw={520}>
          <TextInput
            label="URL"
            description={t`Of the service whose API has the recordings.`}
            placeholder="https://parley.example.com"
            type="url"
            required
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            error={errors.base_url}
          />
          <PasswordInput
            visibilityToggleButtonProps={{ "aria-label": t`Show secret` }}
            label={t`Access token`}
            description={t`Created at that service. Stored encrypted until the import ends.`}
            required
            autoComplete="off"
            value={token}
            onChange={(event) => setToken(event.currentTarget.value)}
            error={errors.token}
          />
          {isUnencrypted(url) ? (
            <Switch
              label={t`Connect without encryption`}
              description={t`The token and recordings can be read on the way.`}
              checked={allowsHttp}
              onChange={(event) => setAllowsHttp(event.currentTarget.checked)}
            />
          ) : null}
          <FormError error={start.error} fields={["base_url", "token"]} />
          <Group>
            <Button type="submit" loading={start.isPending} disabled={isEmpty}>
              <Trans>Count recordings</Trans>
            </Button>
            <Button
              variant="default"
              loading={start.isPending}
              disabled={isEmpty}
              onClick={() => start.mutate(false)}
            >
              <Trans>Import recordings</Trans>
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

const stateLabels: Readonly<Record<ImportRun["state"], MessageDescriptor>> = {
  pending: msg`Waiting`,
  running: msg`Running`,
  done: msg`Done`,
  failed: msg`Failed`,
  canceled: msg`Canceled`,
};

function RunRow({ run }: { run: ImportRun }) {
  const { t } = useLingui();
  const { counts, imported, failed, omitted, source, origin, is_dry_run: isDryRun } = run;
  const { recordings = 0, existing = 0, users_matched: matched, users_unknown: unknown = 0 } = counts;
  const hasReport = failed > 0 || Object.keys(omitted).length > 0;
  const total = recordings - existing;
  const users = (matched ?? 0) + unknown;
  return (
    <Row
      title={`${source}: ${origin}`}
      facts={[
        isDryRun ? t`Count only` : null,
        run.state === "done" && isDryRun ? null : t(stateLabels[run.state]),
        plural(recordings, { one: "# recording found", other: "# recordings found" }),
        existing > 0 ? plural(existing, { one: "# imported before", other: "# imported before" }) : null,
        matched === undefined
          ? null
          : plural(users, {
              one: `${matched} of # user has an account here`,
              other: `${matched} of # users have an account here`,
            }),
        isDryRun ? null : plural(imported, { one: "# imported", other: "# imported" }),
        failed === 0
          ? null
          : isDryRun
            ? plural(failed, { one: "# can't be imported", other: "# can't be imported" })
            : plural(failed, { one: "# not imported", other: "# not imported" }),
        dayAndTime(run.created_datetime),
      ]}
      actions={
        isRunning(run) ? (
          <ConfirmButton
            text={t`Cancel`}
            button={{ "aria-label": t`Cancel import from ${origin}` }}
            title={t`Cancel import?`}
            label={t`Cancel import`}
            run={() => cancelImportRun(run.id)}
            done={t`Import canceled.`}
            refresh={refresh}
          >
            <Trans>Recordings that were imported stay. A later import continues.</Trans>
          </ConfirmButton>
        ) : undefined
      }
    >
      {run.error === null ? null : (
        <Text size="sm" c="var(--mantine-color-error)">
          <ServerText text={run.error} />
        </Text>
      )}
      {run.state === "running" && !isDryRun && total > 0 ? (
        <Progress
          mt={8}
          value={((imported + failed) / total) * 100}
          aria-label={t`Progress of import from ${origin}`}
        />
      ) : null}
      {hasReport ? <Report run={run} /> : null}
    </Row>
  );
}

function OldIds({ workspace }: { workspace: Workspace }) {
  const { t } = useLingui();
  const save = useAction<boolean>({
    run: (resolves) => updateWorkspace({ resolves_old_ids: resolves }),
    done: t`Saved.`,
    refresh: [workspaceQuery.queryKey],
  });
  return (
    <Panel>
      <Switch
        label={t`Resolve old ids`}
        description={t`Links and API calls with the id that a recording had elsewhere find the imported recording.`}
        checked={workspace.resolves_old_ids}
        disabled={save.isPending}
        onChange={(event) => save.mutate(event.currentTarget.checked)}
      />
    </Panel>
  );
}
