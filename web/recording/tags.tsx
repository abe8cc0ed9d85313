import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Button, CloseButton, Group, Popover, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconTag } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { isTag } from "../../contract/recordings/tag.ts";
import { ApiError } from "../api/client/api-error.ts";
import { refreshRecording } from "../api/recording/recording.ts";
import { useRecording } from "./context.ts";

/** The recording's tags, with buttons to add and remove them for users who can change it. */
export function Tags() {
  const { t } = useLingui();
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const { tags } = view.recording;
  const remove = useMutation({
    mutationFn: actions.removeTag,
    onSuccess: () => refreshRecording(client, id),
    onError: (error) => showError(t`Couldn't remove tag`, error),
  });
  return (
    <Group gap={6} maw="100%">
      {tags.map((tag) => (
        <Badge
          key={tag}
          variant="default"
          size="lg"
          maw="100%"
          tt="none"
          fw={500}
          dir="auto"
          rightSection={
            view.can.change ? (
              <CloseButton
                size={20}
                radius="xl"
                aria-label={t`Remove tag ${tag}`}
                disabled={remove.isPending}
                onClick={() => remove.mutate(tag)}
              />
            ) : null
          }
        >
          {tag}
        </Badge>
      ))}
      {view.can.change ? <AddTag /> : null}
    </Group>
  );
}

function AddTag() {
  const { t } = useLingui();
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const tag = text.trim().replaceAll(/\s+/g, "-");
  const isValid = tag === "" || isTag(tag);
  const add = useMutation({
    mutationFn: actions.addTag,
    onSuccess: async () => {
      await refreshRecording(client, id);
      setText("");
      setOpen(false);
    },
    onError: (error) => showError(t`Couldn't add tag`, error),
  });
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          leftSection={<IconTag size={16} stroke={1.6} aria-hidden />}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Trans>Add tag</Trans>
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (tag !== "" && isValid) add.mutate(tag);
          }}
        >
          <Group gap="xs" align="flex-start" wrap="nowrap">
            <TextInput
              w={200}
              aria-label={t`New tag`}
              placeholder={t`New tag`}
              maxLength={200}
              data-autofocus
              value={text}
              error={isValid ? null : t`Letters, numbers and dashes only`}
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <Button type="submit" loading={add.isPending} disabled={tag === "" || !isValid}>
              <Trans>Add</Trans>
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

function showError(title: string, error: unknown): void {
  notifications.show({
    color: "red",
    title,
    message: error instanceof ApiError ? error.message : t`Something went wrong.`,
  });
}
