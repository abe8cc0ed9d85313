import { useLingui } from "@lingui/react/macro";
import { Checkbox, Textarea, TextInput } from "@mantine/core";
import { type Client, clientsQuery, createClient, updateClient } from "../../api/settings/oauth-clients.ts";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import {
  CompatibilityFields,
  type CompatibilityValue,
  chosen,
  compatibilityErrors,
} from "../compatibility-fields.tsx";

interface ClientFormProps {
  /** The app to edit; a new one if absent. */
  readonly client?: Client;
  readonly onSaved: (client: Client, secret: string | null) => void;
  readonly onCancel: () => void;
}

/** Name, redirect URIs and origins of an app. */
export function ClientForm({ client, onSaved, onCancel }: ClientFormProps) {
  const { t } = useLingui();
  const draft = useDraft(`client:${client?.client_id ?? "new"}`, {
    name: client?.name ?? "",
    uris: client?.redirect_uris.join("\n") ?? "",
    origins: client?.cors_origins.join("\n") ?? "",
    isPublic: false,
    isLegacy: false,
    // Drafts have no null: an empty text is the server's setting.
    datetime_filters: client?.datetime_filters ?? "",
    compatibility: client?.compatibility ?? "",
  });
  const { name, uris, origins, isPublic, isLegacy } = draft.value;
  const compatibility = {
    datetime_filters: draft.value.datetime_filters || null,
    compatibility: draft.value.compatibility || null,
  } as CompatibilityValue;
  const save = useForm({
    run: async () => {
      const body = {
        name,
        redirect_uris: lines(uris),
        cors_origins: lines(origins),
        ...chosen(compatibility),
      };
      if (client !== undefined)
        return { saved: await updateClient(client.client_id, body), secret: null as string | null };
      const { client_secret, ...saved } = await createClient({ ...body, public: isPublic, legacy: isLegacy });
      return { saved, secret: client_secret };
    },
    ...(client === undefined ? {} : { done: t`App saved.` }),
    refresh: [clientsQuery.queryKey],
    onDone: ({ saved, secret }) => {
      onSaved(saved, secret);
    },
    draft,
  });
  return (
    <Form form={save} label={client === undefined ? t`Create app` : t`Save`} onCancel={onCancel}>
      <TextInput
        label={t`Name`}
        description={t`Shown to users when the app requests access`}
        required
        data-autofocus
        value={name}
        onChange={(event) => draft.change({ name: event.currentTarget.value })}
        error={save.errorOf("name")}
      />
      <Textarea
        label={t`Redirect URIs`}
        description={t`One per line, exact match`}
        placeholder="https://app.example.com/callback"
        required
        autosize
        minRows={2}
        value={uris}
        onChange={(event) => draft.change({ uris: event.currentTarget.value })}
        error={save.errorOf("redirect_uris")}
      />
      <Textarea
        label={t`CORS origins`}
        description={t`Of pages that request tokens from a browser, one per line`}
        placeholder="https://app.example.com"
        autosize
        minRows={1}
        value={origins}
        onChange={(event) => draft.change({ origins: event.currentTarget.value })}
        error={save.errorOf("cors_origins")}
      />
      {client !== undefined ? null : (
        <>
          <Checkbox
            label={t({ context: "OAuth client", message: "Public" })}
            description={t`Runs in a browser, on a phone or desktop, and can't keep a secret`}
            checked={isPublic}
            onChange={(event) => draft.change({ isPublic: event.currentTarget.checked })}
            error={save.errorOf("public")}
          />
          <Checkbox
            label={t`Legacy`}
            description={t`Access tokens don't expire, and there are no refresh tokens`}
            checked={isLegacy}
            onChange={(event) => draft.change({ isLegacy: event.currentTarget.checked })}
            error={save.errorOf("legacy")}
          />
        </>
      )}
      <CompatibilityFields
        value={compatibility}
        onChange={(change) => {
          const { datetime_filters, compatibility: names } = { ...compatibility, ...change };
          draft.change({ datetime_filters: datetime_filters ?? "", compatibility: names ?? "" });
        }}
        errors={compatibilityErrors(save)}
        canClear={client === undefined}
      />
    </Form>
  );
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
