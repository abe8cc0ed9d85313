import { Badge, Button, CloseButton, Group, Popover, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconTag } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client.ts";
import { refreshRecording } from "../api/recording.ts";
import { useRecording } from "./context.ts";

/** The rule of the contract: a letter or digit first, then letters, digits or dashes. */
const tagPattern = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*$/u;

/** Tags of a recording: seen by all, put on and taken off by those who may. */
export function Tags() {
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const { tags } = view.recording;
  const remove = useMutation({
    mutationFn: actions.removeTag,
    onSuccess: () => refreshRecording(client, id),
    onError: (error) => tell("The tag was not taken off", error),
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
                aria-label={`Take off the tag ${tag}`}
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
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState("");
  const tag = text.trim().replaceAll(/\s+/g, "-");
  const isGood = tag === "" || tagPattern.test(tag);
  const add = useMutation({
    mutationFn: actions.addTag,
    onSuccess: async () => {
      await refreshRecording(client, id);
      setText("");
      setOpen(false);
    },
    onError: (error) => tell("The tag was not added", error),
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
          Add tag
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (tag !== "" && isGood) add.mutate(tag);
          }}
        >
          <Group gap="xs" align="flex-start" wrap="nowrap">
            <TextInput
              w={200}
              aria-label="New tag"
              placeholder="New tag"
              maxLength={200}
              data-autofocus
              value={text}
              error={isGood ? null : "Letters, digits and dashes only"}
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <Button type="submit" loading={add.isPending} disabled={tag === "" || !isGood}>
              Add
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

function tell(title: string, error: unknown): void {
  notifications.show({
    color: "red",
    title,
    message: error instanceof ApiError ? error.message : "Something went wrong.",
  });
}
