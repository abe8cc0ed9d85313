import { Trans, useLingui } from "@lingui/react/macro";
import { Checkbox, Group, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { createHook, type HookType, hooksQuery } from "../../api/settings/webhooks.ts";
import { SecretDialog } from "../../common/dialogs/secret-dialog.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";
import { eventTypeLabels, eventTypes, includesOf } from "./event-types.ts";

/** Creates a webhook, and shows its secret once. */
export function NewWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useLingui();
  return (
    <SecretDialog
      opened={opened}
      onClose={onClose}
      title={t`Create webhook`}
      createdTitle={t`Webhook created`}
      label={t`Signing secret`}
      form={({ created, cancel }) => <WebhookForm onCreated={created} onCancel={cancel} />}
    >
      <Trans>
        Use it to verify that requests come from this server. They are signed as in Standard Webhooks.
      </Trans>
    </SecretDialog>
  );
}

function WebhookForm(props: { onCreated: (secret: string) => void; onCancel: () => void }) {
  const { t } = useLingui();
  const { onCreated, onCancel } = props;
  const [type, setType] = useState<HookType>("recording_added");
  const [url, setUrl] = useState("");
  const [chosen, setChosen] = useState<string[]>([]);
  const includes = includesOf(type);
  const create = useForm({
    run: () =>
      createHook({
        hook_url: url,
        hook_type: type,
        include: Object.fromEntries(
          chosen
            .filter((name) => name in includes)
            .map((name) => [name, name === "ai_template_sections" ? {} : true]),
        ),
      }),
    refresh: [hooksQuery("me").queryKey],
    onDone: ({ secret }) => onCreated(secret ?? ""),
  });
  return (
    <Form form={create} label={t`Create webhook`} onCancel={onCancel}>
      <Select
        label={t`Event`}
        allowDeselect={false}
        data={eventTypes.map(({ group, items }) => ({
          group: t(group),
          items: items.map((value) => ({ value, label: t(eventTypeLabels[value]) })),
        }))}
        value={type}
        onChange={(value) => setType((value ?? "recording_added") as HookType)}
        error={create.errorOf("hook_type")}
      />
      <TextInput
        label="URL"
        description={t`Must be https and return 2xx to a test request. May contain user:password@, which isn't shown again.`}
        placeholder="https://example.com/hooks/parley"
        type="url"
        required
        data-autofocus
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        error={create.errorOf("hook_url")}
      />
      {Object.keys(includes).length === 0 ? null : (
        <Checkbox.Group
          label={t`Include`}
          value={chosen}
          onChange={setChosen}
          error={create.errorOf("include")}
        >
          <Group gap="xs" mt={6}>
            {Object.entries(includes).map(([name, label]) => (
              <Checkbox key={name} value={name} label={t(label)} />
            ))}
          </Group>
        </Checkbox.Group>
      )}
    </Form>
  );
}
