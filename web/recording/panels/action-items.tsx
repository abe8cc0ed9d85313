import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Checkbox, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconChecklist } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../../api/client/api-error.ts";
import { type ActionItem, actionItemsQuery, tickActionItem } from "../../api/recording/intelligence.ts";
import { refreshRecording } from "../../api/recording/recording.ts";
import { EmptyState } from "../../common/states.tsx";
import { useRecording } from "../context.ts";
import { Reason, useIntelligenceState } from "./intelligence-status.tsx";
import { MomentButton } from "./moment-button.tsx";
import classes from "./panels.module.css";

/** Action items. Checking one applies immediately, and is rolled back if the request fails. */
export function ActionItemsPanel() {
  const { t } = useLingui();
  const { id, view } = useRecording();
  const plain = view.recording.ai_action_items ?? [];
  const items = useQuery({ ...actionItemsQuery(id), enabled: plain.length > 0 });
  const tick = useTick();
  const state = useIntelligenceState();
  if (plain.length === 0)
    return (
      <EmptyState title={t`No action items`} icon={<IconChecklist size={30} stroke={1.5} />}>
        <Reason state={state} />
      </EmptyState>
    );
  const shown: readonly (Omit<ActionItem, "id" | "quote" | "due_date"> & {
    id?: string;
    quote?: string;
  })[] = items.data ?? plain;
  const open = shown.filter(({ status }) => status === "pending").length;
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {open === 0
          ? t`All done`
          : plural(
              { count: open },
              {
                one: `# of ${{ total: shown.length }} open`,
                other: `# of ${{ total: shown.length }} open`,
              },
            )}
      </Text>
      <ul className={classes.plainList}>
        {shown.map((item, i) => (
          <li key={item.id ?? `${item.timestamp} ${i}`}>
            <Group gap="sm" wrap="nowrap" align="flex-start" className={classes.item ?? ""}>
              <Checkbox
                flex={1}
                miw={0}
                classNames={{ labelWrapper: classes.breakable ?? "" }}
                checked={item.status === "completed"}
                disabled={item.id === undefined}
                label={
                  <span dir="auto" className={item.status === "completed" ? classes.done : undefined}>
                    {item.text}
                  </span>
                }
                description={item.assignee?.name}
                onChange={(event) => {
                  if (item.id !== undefined) tick(item.id, event.currentTarget.checked);
                }}
              />
              <MomentButton ms={item.timestamp} quote={item.quote ?? ""} />
            </Group>
          </li>
        ))}
      </ul>
    </Stack>
  );
}

function useTick() {
  const { t } = useLingui();
  const { id } = useRecording();
  const client = useQueryClient();
  const { queryKey } = actionItemsQuery(id);
  const setDone = (item: string, isDone: boolean): void => {
    client.setQueryData(queryKey, (items: ActionItem[] | undefined) =>
      items?.map((one) => (one.id === item ? { ...one, status: isDone ? "completed" : "pending" } : one)),
    );
  };
  const { mutate } = useMutation({
    mutationFn: ({ item, isDone }: { item: string; isDone: boolean }) => tickActionItem(id, item, isDone),
    onSuccess: () => refreshRecording(client, id),
    onError: (error, { item, isDone }) => {
      setDone(item, !isDone);
      notifications.show({
        color: "red",
        title: t`Couldn't update`,
        message: error instanceof ApiError ? error.message : t`Something went wrong.`,
      });
    },
  });
  return (item: string, isDone: boolean): void => {
    // An earlier response must not overwrite the new state.
    void client.cancelQueries({ queryKey });
    setDone(item, isDone);
    mutate({ item, isDone });
  };
}
