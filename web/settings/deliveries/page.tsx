import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Modal } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { meetingTypesQuery, teamsQuery, usersQuery } from "../../api/directory.ts";
import {
  type Destination,
  deleteDestination,
  destinationsQuery,
  testDestination,
  updateDestination,
} from "../../api/settings/deliveries.ts";
import { useAction } from "../../common/actions.tsx";
import { ServerText } from "../../common/format/server-text.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Loaded, NoneYet, Row, RowButton, Rows, SettingsPage, Tag } from "../parts.tsx";
import { DeliveryDialog } from "./dialog.tsx";
import { describeConditions, kinds } from "./kinds.ts";
import { DeliveryLog, TestOutcome } from "./log.tsx";

const parent = getRouteApi("/signed-in");

/** Deliveries: where summaries are sent. */
export function DeliveriesPage() {
  const { t } = useLingui();
  const { session } = parent.useRouteContext();
  const deliveries = useQuery(destinationsQuery);
  const [edited, setEdited] = useState<Destination | "new" | null>(null);
  const [logged, setLogged] = useState<Destination | null>(null);
  const loggedName = logged?.name;
  const isAdmin = session.user.role === "admin";
  const canManage = session.user.role !== "viewer";
  return (
    <SettingsPage
      title={t`Deliveries`}
      lead={t`Send the summary of a recording to a chat, by email or to a folder as soon as it is ready. Where there is no language model, the first lines of the transcript are sent instead.`}
      action={
        canManage ? (
          <Button leftSection={<IconPlus size={18} />} onClick={() => setEdited("new")}>
            <Trans>Create delivery</Trans>
          </Button>
        ) : undefined
      }
    >
      <Loaded query={deliveries}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <NoneYet>
              <Trans>
                No deliveries yet. Create one to see summaries in Slack, Microsoft Teams, Mattermost or
                Discord.
              </Trans>
            </NoneYet>
          ) : (
            <Rows label={t`Deliveries`}>
              {deliveries.map((delivery) => (
                <DeliveryRow
                  key={delivery.id}
                  delivery={delivery}
                  userId={session.user.id}
                  canManage={canManage}
                  onEdit={() => setEdited(delivery)}
                  onLog={() => setLogged(delivery)}
                />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <DeliveryDialog edited={edited} isAdmin={isAdmin} onClose={() => setEdited(null)} />
      <Modal
        opened={logged !== null}
        onClose={() => setLogged(null)}
        title={loggedName === undefined ? "" : t`Sent to ${loggedName}`}
        size="xl"
        centered
        keepMounted={false}
      >
        {logged === null ? null : <DeliveryLog id={logged.id} canManage={canManage} />}
      </Modal>
    </SettingsPage>
  );
}

interface RowProps {
  readonly delivery: Destination;
  readonly userId: string;
  readonly canManage: boolean;
  readonly onEdit: () => void;
  readonly onLog: () => void;
}

function DeliveryRow({ delivery, userId, canManage, onEdit, onLog }: RowProps) {
  const { t } = useLingui();
  const { id, name, kind, enabled, last_attempt: last } = delivery;
  const teams = useQuery(teamsQuery).data?.teams ?? [];
  const types = useQuery(meetingTypesQuery).data?.meeting_types ?? [];
  const users = useQuery(usersQuery).data?.users ?? [];
  const refresh = [destinationsQuery.queryKey];
  const test = useAction({ run: () => testDestination(id), refresh, showsError: true });
  const enable = useAction({
    run: () => updateDestination(id, { enabled: true }),
    done: t`Delivery enabled.`,
    refresh,
  });
  const what = describeConditions(delivery.conditions, {
    teams: new Map(teams.map((team) => [team.id, team.name])),
    types: new Map(types.map((type) => [type.id, type.name])),
  });
  const owner = users.find((user) => user.id === delivery.user_id)?.name;
  const folder = delivery.folder || "notes";
  const sent = last === null ? "" : whenInLine(last.datetime);
  const error = last?.error;
  return (
    <Row
      title={name}
      badges={
        <>
          <Tag>{t(kinds[kind].label)}</Tag>
          {!enabled ? (
            <Tag tone="bad">
              <Trans>Disabled</Trans>
            </Tag>
          ) : delivery.failing_since !== null ? (
            <Tag tone="warn">
              <Trans>Failing</Trans>
            </Tag>
          ) : null}
          {delivery.pending > 0 ? (
            <Tag tone="accent">
              <Plural value={delivery.pending} one="# pending" other="# pending" />
            </Tag>
          ) : null}
        </>
      }
      facts={[
        ...what,
        delivery.host ?? (kind === "markdown" ? t`folder ${folder}` : null),
        delivery.user_id === userId
          ? null
          : owner === undefined
            ? t`what a former user can see`
            : t`what ${owner} can see`,
        !enabled && delivery.disabled_reason !== null && (
          <ServerText key="disabled" text={delivery.disabled_reason} />
        ),
        last === null
          ? t`nothing sent yet`
          : error == null
            ? t`last sent ${sent}`
            : t`last attempt failed ${sent}`,
        error != null && <ServerText key="error" text={error} />,
      ]}
      actions={
        <>
          {canManage && enabled ? <RowButton text={t`Test`} label={t`Test ${name}`} action={test} /> : null}
          {canManage && !enabled ? (
            <RowButton text={t`Enable`} label={t`Enable ${name}`} action={enable} />
          ) : null}
          <Button variant="subtle" size="compact-sm" aria-label={t`Log of ${name}`} onClick={onLog}>
            <Trans>Log</Trans>
          </Button>
          {canManage ? (
            <>
              <Button variant="subtle" size="compact-sm" aria-label={t`Edit ${name}`} onClick={onEdit}>
                <Trans>Edit</Trans>
              </Button>
              {enabled ? (
                <ConfirmButton
                  text={t`Disable`}
                  button={{ variant: "subtle", size: "compact-sm", color: "gray" }}
                  title={t`Disable ${name}?`}
                  label={t`Disable`}
                  run={() => updateDestination(id, { enabled: false })}
                  done={t`Delivery disabled.`}
                  refresh={refresh}
                >
                  <Trans>Nothing is sent while it is disabled. You can enable it again.</Trans>
                </ConfirmButton>
              ) : null}
              <ConfirmButton
                text={t`Delete`}
                button={{ variant: "subtle", size: "compact-sm" }}
                title={t`Delete ${name}?`}
                label={t`Delete delivery`}
                run={() => deleteDestination(id)}
                done={t`Delivery deleted.`}
                refresh={refresh}
              >
                {kind === "markdown" ? (
                  <Trans>Nothing more is sent, and its log is deleted. Files that it wrote are kept.</Trans>
                ) : (
                  <Trans>Nothing more is sent, and its log is deleted.</Trans>
                )}
              </ConfirmButton>
            </>
          ) : null}
        </>
      }
    >
      <TestOutcome result={test.data} error={test.error} />
    </Row>
  );
}
