import { Anchor, Badge, Button, Group, Modal, Skeleton, Stack, Text, Title } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconArrowLeft, IconHighlight, IconPencil, IconTrash } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { changeStory, lengthOf, removeStory, type StoryBody, storyQuery } from "../api/stories.ts";
import { ConfirmForm } from "../common/confirm-form.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { lengthInWords } from "../common/time.ts";
import { useTitle } from "../common/use-title.ts";
import classes from "./stories.module.css";
import { StoryForm } from "./story-form.tsx";
import { StoryList } from "./story-list.tsx";
import { StoryPlayer } from "./story-player.tsx";

const page = getRouteApi("/signed-in/stories/$storyId");

/** One story: watched, put in order, described. */
export function StoryPage() {
  const { storyId } = page.useParams();
  const query = useQuery(storyQuery(storyId));
  useTitle(query.data?.title);
  if (query.isPending) return <Skeleton height={420} radius="lg" />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  return <Story key={storyId} story={query.data} />;
}

function Story({ story }: { story: StoryBody }) {
  const { highlights } = story;
  const [chosen, setChosen] = useState<string | null>(null);
  const order = useOrder(story);
  // What is being watched goes on at its new place when the order changes.
  const at = Math.max(
    0,
    highlights.findIndex(({ id }) => id === chosen),
  );
  return (
    <Stack gap="md" maw={1200} mx="auto">
      <Head story={story} />
      {highlights.length === 0 ? (
        <EmptyState
          title="Nothing in this story yet"
          icon={<IconHighlight size={30} stroke={1.5} />}
          action={
            <Button component={Link} to="/highlights">
              Choose highlights
            </Button>
          }
        >
          Add highlights to it from their menu in the list of highlights.
        </EmptyState>
      ) : (
        <div className={classes.story}>
          <StoryPlayer
            highlights={highlights}
            at={at}
            hasBegun={chosen !== null}
            onMove={(place) => setChosen(highlights[place]?.id ?? null)}
          />
          <StoryList
            highlights={highlights}
            at={at}
            onPlay={setChosen}
            onOrder={(ids) => order.mutate(ids)}
          />
        </div>
      )}
    </Stack>
  );
}

/** Saves a new order, which is shown before it is saved and taken back when it can't be. */
function useOrder(story: StoryBody) {
  const queryClient = useQueryClient();
  const { queryKey } = storyQuery(story.id);
  return useMutation({
    // One after the other, in the order in which the person made them.
    scope: { id: `story-${story.id}` },
    mutationFn: (ids: string[]) => changeStory(story.id, { highlight_ids: ids }),
    onMutate: async (ids) => {
      await queryClient.cancelQueries({ queryKey });
      queryClient.setQueryData(queryKey, (before) =>
        before === undefined
          ? before
          : {
              ...before,
              highlights: ids.flatMap((id) => before.highlights.find((one) => one.id === id) ?? []),
            },
      );
    },
    onError: (error) => notifications.show({ color: "red", title: "Not saved", message: error.message }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ["stories"] }),
  });
}

function Head({ story }: { story: StoryBody }) {
  const [dialog, setDialog] = useState<"edit" | "delete" | null>(null);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { title, description, tags, highlights } = story;
  return (
    <div>
      <Anchor component={Link} to="/stories" size="sm">
        <Group gap={4} component="span">
          <IconArrowLeft size={16} aria-hidden /> Stories
        </Group>
      </Anchor>
      <Group justify="space-between" align="flex-start" gap="xs" mt={4}>
        <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
          {title}
        </Title>
        <Group gap="xs">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPencil size={16} />}
            onClick={() => setDialog("edit")}
          >
            Edit
          </Button>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconTrash size={16} />}
            onClick={() => setDialog("delete")}
          >
            Delete
          </Button>
        </Group>
      </Group>
      <Group gap={8} mt={4}>
        <Text size="sm" c="dimmed">
          {highlights.length} {highlights.length === 1 ? "highlight" : "highlights"} ·{" "}
          {lengthInWords(lengthOf(story))}
        </Text>
        {tags.map((tag) => (
          <Badge key={tag} variant="default" tt="none" fw={500}>
            {tag}
          </Badge>
        ))}
      </Group>
      {description === "" ? null : (
        <Text mt="xs" maw={760} style={{ whiteSpace: "pre-line" }}>
          {description}
        </Text>
      )}
      <Modal
        opened={dialog !== null}
        onClose={() => setDialog(null)}
        title={dialog === "delete" ? "Delete story" : "Edit story"}
      >
        {dialog === "edit" ? (
          <StoryForm
            verb="Save"
            words={{ title, description, tags }}
            save={(words) => changeStory(story.id, words)}
            onSaved={(saved) => {
              queryClient.setQueryData(storyQuery(story.id).queryKey, saved);
              void queryClient.invalidateQueries({ queryKey: ["stories", "list"] });
              setDialog(null);
            }}
          />
        ) : null}
        {dialog === "delete" ? (
          <ConfirmForm
            verb="Delete"
            act={() => removeStory(story.id)}
            onDone={() => {
              void queryClient.invalidateQueries({ queryKey: ["stories", "list"] });
              void navigate({ to: "/stories" });
            }}
            onCancel={() => setDialog(null)}
          >
            “{title}” is deleted for everybody. Its highlights stay.
          </ConfirmForm>
        ) : null}
      </Modal>
    </div>
  );
}
