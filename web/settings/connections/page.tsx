import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type Connection, connectionsQuery, deleteConnection } from "../../api/settings/connections.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { CopyField } from "../../common/dialogs/secret-once.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { DeliveriesHint, Loaded, NoneYet, Row, Rows, SettingsPage } from "../parts.tsx";
import { Events } from "./events.tsx";
import { ConnectionForm } from "./form.tsx";
import { serviceLabels } from "./services.ts";

/** Connections to services that report their recordings by webhook. */
export function ConnectionsPage() {
  const { t } = useLingui();
  const connections = useQuery(connectionsQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title={t`Connections`}
      lead={
        <>
          {t`Recordings of Zoom, Attendee and Vexa are imported as soon as the service reports them.`}{" "}
          <DeliveriesHint />
        </>
      }
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          <Trans>Create connection</Trans>
        </Button>
      }
    >
      <Loaded query={connections}>
        {({ connections }) =>
          connections.length === 0 ? (
            <NoneYet>
              <Trans>No connections yet.</Trans>
            </NoneYet>
          ) : (
            <Rows label={t`Connections`}>
              {connections.map((connection) => (
                <ConnectionRow key={connection.id} connection={connection} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <FormDialog opened={opened} onClose={close} title={t`Create connection`} centered>
        <ConnectionForm onDone={close} />
      </FormDialog>
    </SettingsPage>
  );
}

function ConnectionRow({ connection }: { connection: Connection }) {
  const { t } = useLingui();
  const { id, kind, name, webhook_url: url, base_url, received_datetime: received } = connection;
  const service = serviceLabels[kind];
  const last = received === null ? null : whenInLine(received);
  return (
    <Row
      title={name}
      facts={[
        service,
        base_url,
        kind === "zoom" && !connection.has_api_credentials ? t`without OAuth credentials` : null,
        last === null ? t`No webhook received yet` : t`Last webhook ${last}`,
      ]}
      actions={
        <ConfirmButton
          text={t`Delete`}
          button={{ "aria-label": t`Delete ${name}` }}
          title={t`Delete ${name}?`}
          label={t`Delete connection`}
          run={() => deleteConnection(id)}
          done={t`Connection deleted.`}
          refresh={[connectionsQuery.queryKey]}
        >
          <Trans>
            Its secrets and events are deleted, and its URL stops working. Imported recordings stay.
          </Trans>
        </ConfirmButton>
      }
    >
      <CopyField label={t`Webhook URL to enter at ${service}`} value={url} />
      <Text size="sm" fw={500} mt="sm" component="h2">
        <Trans>Latest events</Trans>
      </Text>
      <Events connection={connection} />
    </Row>
  );
}
