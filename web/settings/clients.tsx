import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Client, clientsQuery, deleteClient, rotateClientSecret } from "../api/oauth-clients.ts";
import { ConfirmButton } from "../common/confirm.tsx";
import { LoadMore } from "../common/endless.tsx";
import { CopyField, SecretOnce } from "../common/secret-once.tsx";
import { ErrorState } from "../common/states.tsx";
import { whenInLine } from "../common/time.ts";
import { ClientForm } from "./client-form.tsx";
import { NoneYet, Row, Rows, RowsSkeleton, SettingsPage, Tag } from "./parts.tsx";

/** An app with its secret, which is shown this once; null for a public one. */
interface Shown {
  readonly client: Client;
  readonly secret: string | null;
}

/** Apps that may ask people of the workspace to be let in. */
export function ClientsPage() {
  const [opened, { open, close }] = useDisclosure();
  const [shown, setShown] = useState<Shown | null>(null);
  return (
    <SettingsPage
      title="OAuth clients"
      lead="Apps that may ask people here to be let in, by OAuth 2.0."
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          New app
        </Button>
      }
    >
      <Clients show={setShown} />
      <Modal opened={opened} onClose={close} title="New app" centered>
        <ClientForm
          onSaved={(client, secret) => {
            close();
            setShown({ client, secret });
          }}
          onCancel={close}
        />
      </Modal>
      <Modal
        opened={shown !== null}
        onClose={() => setShown(null)}
        title={shown?.client.name}
        centered
        closeOnClickOutside={false}
      >
        {shown === null ? null : <Credentials {...shown} onDone={() => setShown(null)} />}
      </Modal>
    </SettingsPage>
  );
}

function Credentials({ client, secret, onDone }: Shown & { onDone: () => void }) {
  if (secret !== null)
    return (
      <SecretOnce label="Client secret" value={secret} onDone={onDone}>
        <CopyField label="Client id" value={client.client_id} />
      </SecretOnce>
    );
  return (
    <Stack>
      <Text size="sm">A public app has no secret; it proves itself by PKCE.</Text>
      <CopyField label="Client id" value={client.client_id} />
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
          : `the old secret is good until ${whenInLine(client.previous_secret_until)}`,
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
              label="Make new secret"
              isHarmless
              run={async () => {
                const { client_secret } = await rotateClientSecret(client.client_id, dayInSec);
                show({ client, secret: client_secret });
              }}
              done="The new secret is good at once."
              refresh={[clientsQuery.queryKey]}
            >
              The present secret stays good for a day, so that the app can change over. One before it ends at
              once.
            </ConfirmButton>
          )}
          <ConfirmButton
            text="Delete"
            button={{ "aria-label": `Delete ${client.name}` }}
            title={`Delete ${client.name}?`}
            label="Delete app"
            run={() => deleteClient(client.client_id)}
            done={`${client.name} is deleted.`}
            refresh={[clientsQuery.queryKey]}
          >
            All its tokens end at once, for everybody. This can't be undone.
          </ConfirmButton>
        </>
      }
    >
      <Modal opened={edits} onClose={close} title={`Edit ${client.name}`} centered>
        <ClientForm client={client} onSaved={close} onCancel={close} />
      </Modal>
    </Row>
  );
}
