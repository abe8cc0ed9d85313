import { Button, Checkbox, Group, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { createHook, type HookType, hooksQuery } from "../../api/hooks.ts";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";
import { SecretOnce } from "../../common/secret-once.tsx";
import { hookTypes, includesOf, typeInWords } from "./hook-types.ts";

/** Asks for a new hook, and shows its secret once. */
export function NewHook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => {
    setSecret(null);
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={secret === null ? "New hook" : "The hook is on"}
      centered
      closeOnClickOutside={secret === null}
    >
      {secret === null ? (
        <HookForm onMade={setSecret} onCancel={close} />
      ) : (
        <SecretOnce label="Signing secret" value={secret} onDone={close}>
          <Text size="sm" c="dimmed">
            Check with it that requests come from here: they are signed as Standard Webhooks are.
          </Text>
        </SecretOnce>
      )}
    </Modal>
  );
}

function HookForm(props: { onMade: (secret: string) => void; onCancel: () => void }) {
  const { onMade, onCancel } = props;
  const [type, setType] = useState<HookType>("recording_added");
  const [url, setUrl] = useState("");
  const [chosen, setChosen] = useState<string[]>([]);
  const includes = includesOf(type);
  const create = useAction({
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
    showsError: true,
    onDone: ({ secret }) => onMade(secret ?? ""),
  });
  const faults = fieldErrors(create.error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <Stack>
        <Select
          label="When"
          allowDeselect={false}
          data={hookTypes.map(({ group, items }) => ({
            group,
            items: items.map((value) => ({ value, label: typeInWords(value) })),
          }))}
          value={type}
          onChange={(value) => setType((value ?? "recording_added") as HookType)}
          error={faults.hook_type}
        />
        <TextInput
          label="Address"
          description="It has to answer a test request with 2xx before the hook is made"
          placeholder="https://example.com/hooks/parley"
          type="url"
          required
          data-autofocus
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          error={faults.hook_url}
        />
        {Object.keys(includes).length === 0 ? null : (
          <Checkbox.Group label="Sent along" value={chosen} onChange={setChosen} error={faults.include}>
            <Group gap="xs" mt={6}>
              {Object.entries(includes).map(([name, label]) => (
                <Checkbox key={name} value={name} label={label} />
              ))}
            </Group>
          </Checkbox.Group>
        )}
        <FormError error={create.error} fields={["hook_type", "hook_url", "include"]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Make hook
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
