import { Button, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type Client,
  clientsQuery,
  deleteClient,
  rotateClientSecret,
} from "../../api/settings/oauth-clients.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { CopyField, SecretOnce } from "../../common/dialogs/secret-once.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { LoadMore } from "../../common/lists/load-more.tsx";
import { ErrorState } from "../../common/states.tsx";
import { compatibilityFacts } from "../compatibility-fields.tsx";
import { Grants } from "../grants.tsx";
import { NoneYet, Row, Rows, RowsSkeleton, Section, SettingsPage, Tag } from "../parts.tsx";
import { ClientForm } from "./client-form.tsx";
import { SelfRegisteredApps } from "./self-registered-apps.tsx";

/** An app with its secret, shown once; null for public apps. */
interface Shown {
  readonly client: Client;
  readonly secret: string | null;
}

/** Apps that can request access to users' accounts. */
export function ClientsPage() {
  const [opened, { open, close }] = useDisclosure();
  const [shown, setShown] = useState<Shown | null>(null);
  return (
    <SettingsPage
      title="OAuth clients"
      lead="Apps that can request access with OAuth 2.0."
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          Create app
        </Button>
      }
    >
      <Clients show={setShown} />
      <SelfRegisteredApps />
      <Section title="Connected apps" lead="Apps that members have authorized to act for them.">
        <Grants of="workspace" />
      </Section>
      <FormDialog opened={opened} onClose={close} title="Create app" centered>
        <ClientForm
          onSaved={(client, secret) => {
            close();
            setShown({ client, secret });
          }}
          onCancel={close}
        />
      </FormDialog>
      <FormDialog opened={shown !== null} onClose={() => setShown(null)} title={shown?.client.name} centered>
        {shown === null ? null : <Credentials {...shown} onDone={() => setShown(null)} />}
      </FormDialog>
    </SettingsPage>
  );
}

function Credentials({ client, secret, onDone }: Shown & { onDone: () => void }) {
  if (secret !== null)
    return (
      <SecretOnce label="Client secret" value={secret} onDone={onDone}>
        <CopyField label="Client ID" value={client.client_id} />
      </SecretOnce>
    );
  return (
    <Stack>
      <Text size="sm">Public apps have no secret and use PKCE.</Text>
      <CopyField label="Client ID" value={client.client_id} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}

function Clients({ show }: { show: (shown: Shown) => void }) {
  const query = useInfiniteQuery(clientsQuery);
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const clients = query.data.pages.flatMap(({ clients }) => clients);
  if (clients.length === 0) return <NoneYet>No apps yet.</NoneYet>;
  return (
    <div>
      <Rows label="OAuth clients">
        {clients.map((client) => (
          <ClientRow key={client.client_id} client={client} show={show} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

const dayInSec = 86_400;

function ClientRow({ client, show }: { client: Client; show: (shown: Shown) => void }) {
  const [edits, { open, close }] = useDisclosure();
  return (
    <Row
      title={client.name}
      badges={
        <>
          <Tag>{client.public ? "Public" : "Confidential"}</Tag>
          {client.legacy ? <Tag tone="warn">Legacy</Tag> : null}
        </>
      }
      facts={[
        client.client_id,
        client.redirect_uris.join(", "),
        client.cors_origins.length === 0 ? null : `from ${client.cors_origins.join(", ")}`,
        client.previous_secret_until === null
          ? null
          : `old secret works until ${whenInLine(client.previous_secret_until)}`,
        ...compatibilityFacts(client),
      ]}
      actions={
        <>
          <Button variant="subtle" size="compact-sm" aria-label={`Edit ${client.name}`} onClick={open}>
            Edit
          </Button>
          {client.public ? null : (
            <ConfirmButton
              text="New secret"
              button={{ color: "indigo", "aria-label": `New secret for ${client.name}` }}
              title={`A new secret for ${client.name}?`}
              label="Create secret"
              isHarmless
              run={async () => {
                const { client_secret } = await rotateClientSecret(client.client_id, dayInSec);
                show({ client, secret: client_secret });
              }}
              done="New secret created."
              refresh={[clientsQuery.queryKey]}
            >
              New secret works now; the current one works for 24 h. Any older secret stops working
              immediately.
            </ConfirmButton>
          )}
          <ConfirmButton
            text="Delete"
            button={{ "aria-label": `Delete ${client.name}` }}
            title={`Delete ${client.name}?`}
            label="Delete app"
            run={() => deleteClient(client.client_id)}
            done={`${client.name} deleted.`}
            refresh={[clientsQuery.queryKey]}
          >
            All its tokens stop working immediately, for everyone. This can't be undone.
          </ConfirmButton>
        </>
      }
    >
      <FormDialog opened={edits} onClose={close} title={`Edit ${client.name}`} centered>
        <ClientForm client={client} onSaved={close} onCancel={close} />
      </FormDialog>
    </Row>
  );
}
