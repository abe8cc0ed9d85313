import { Button, Checkbox, Group, Stack, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { type Client, clientsQuery, createClient, updateClient } from "../api/oauth-clients.ts";
import { FormError, fieldErrors, useAction } from "../common/actions.tsx";

interface ClientFormProps {
  /** What is changed; a new one without. */
  readonly client?: Client;
  readonly onSaved: (client: Client, secret: string | null) => void;
  readonly onCancel: () => void;
}

/** Name and addresses of an app. */
export function ClientForm({ client, onSaved, onCancel }: ClientFormProps) {
  const [name, setName] = useState(client?.name ?? "");
  const [uris, setUris] = useState(client?.redirect_uris.join("\n") ?? "");
  const [origins, setOrigins] = useState(client?.cors_origins.join("\n") ?? "");
  const [isPublic, setPublic] = useState(false);
  const [isLegacy, setLegacy] = useState(false);
  const save = useAction({
    run: async () => {
      const body = { name, redirect_uris: lines(uris), cors_origins: lines(origins) };
      if (client !== undefined)
        return { saved: await updateClient(client.client_id, body), secret: null as string | null };
      const { client_secret, ...saved } = await createClient({ ...body, public: isPublic, legacy: isLegacy });
      return { saved, secret: client_secret };
    },
    ...(client === undefined ? {} : { done: "The app is changed." }),
    refresh: [clientsQuery.queryKey],
    showsError: true,
    onDone: ({ saved, secret }) => onSaved(saved, secret),
  });
  const faults = fieldErrors(save.error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          description="People read it when they are asked to let the app in"
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faults.name}
        />
        <Textarea
          label="Redirect URIs"
          description="One a line, compared character by character"
          placeholder="https://app.example.com/callback"
          required
          autosize
          minRows={2}
          value={uris}
          onChange={(event) => setUris(event.currentTarget.value)}
          error={faults.redirect_uris}
        />
        <Textarea
          label="Origins"
          description="Of pages that ask for tokens from a browser; one a line"
          placeholder="https://app.example.com"
          autosize
          minRows={1}
          value={origins}
          onChange={(event) => setOrigins(event.currentTarget.value)}
          error={faults.cors_origins}
        />
        {client !== undefined ? null : (
          <>
            <Checkbox
              label="Public"
              description="It runs in a browser, on a phone or on a desktop, where it can keep no secret"
              checked={isPublic}
              onChange={(event) => setPublic(event.currentTarget.checked)}
              error={faults.public}
            />
            <Checkbox
              label="Legacy"
              description="Its access tokens don't expire, and it gets no refresh tokens"
              checked={isLegacy}
              onChange={(event) => setLegacy(event.currentTarget.checked)}
              error={faults.legacy}
            />
          </>
        )}
        <FormError
          error={save.error}
          fields={["name", "redirect_uris", "cors_origins", "public", "legacy"]}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {client === undefined ? "Make app" : "Save"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
