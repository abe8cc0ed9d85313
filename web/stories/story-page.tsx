import { msg } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Badge, Button, Group, Skeleton, Text, Title } from "@mantine/core";
import { IconHighlight, IconPencil, IconPlus, IconShare, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { deleteStory, lengthOf, type StoryBody, storyQuery, updateStory } from "../api/stories.ts";
import { FormDialog } from "../common/dialogs/form-dialog.tsx";
import { lengthInWords } from "../common/format/time.ts";
import { ConfirmForm } from "../common/forms/confirm.tsx";
import { BackLink, PageStack } from "../common/page-frame.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { LazyLinkManager } from "../link-settings/lazy-link-manager.tsx";
import { AddHighlights } from "./add-highlights.tsx";
import { Banner } from "./banner.tsx";
import classes from "./stories.module.css";
import { StoryForm } from "./story-form.tsx";
import { StoryList } from "./story-list.tsx";
import { StoryPlayer } from "./story-player.tsx";
import { type StoryOrder, useOrder } from "./use-order.ts";

const page = getRouteApi("/signed-in/stories/$storyId");

/** One story: player, order and details. */
export function StoryPage() {
  const { storyId } = page.useParams();
  const query = useQuery(storyQuery(storyId));
  useTitle(query.data?.title);
  if (query.isPending) return <Skeleton height={420} radius="lg" />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  return <Story key={storyId} story={query.data} />;
}

function Story({ story }: { story: StoryBody }) {
  const { t } = useLingui();
  const [chosen, setChosen] = useState<string | null>(null);
  const order = useOrder(story);
  const { highlights } = order;
  const { can_change: canChange } = story;
  // The current highlight keeps playing at its new index when the order changes.
  const at = Math.max(
    0,
    highlights.findIndex(({ id }) => id === chosen),
  );
  return (
    <PageStack>
      <Banner key={story.banner_image_url} storyId={story.id} url={story.banner_image_url} />
      <Head story={story} order={order} />
      {highlights.length === 0 ? (
        <EmptyState
          title={t`This story is empty`}
          icon={<IconHighlight size={30} stroke={1.5} />}
          {...(canChange
            ? { action: <AddButton order={order} label={t`Add highlights`} variant="filled" /> }
            : {})}
        >
          {canChange ? t`Add highlights to build your story.` : t`No highlights you have access to.`}
        </EmptyState>
      ) : (
        <div className={classes.story}>
          <StoryPlayer
            highlights={highlights}
            at={at}
            hasStarted={chosen !== null}
            onMove={(index) => setChosen(highlights[index]?.id ?? null)}
          />
          <StoryList
            highlights={highlights}
            at={at}
            onPlay={setChosen}
            onOrder={canChange ? order.save : null}
          />
        </div>
      )}
    </PageStack>
  );
}

function AddButton(props: { order: StoryOrder; label: string; variant: "filled" | "default" }) {
  const { t } = useLingui();
  const { order, label, variant } = props;
  const [isOpen, setOpen] = useState(false);
  const [isSaving, setSaving] = useState(false);
  const add = async (ids: readonly string[]): Promise<void> => {
    setSaving(true);
    await order.save([...order.ids, ...ids]);
    setSaving(false);
    setOpen(false);
  };
  return (
    <>
      <Button
        variant={variant}
        size={variant === "filled" ? "sm" : "xs"}
        leftSection={<IconPlus size={16} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {label}
      </Button>
      <FormDialog opened={isOpen} onClose={() => setOpen(false)} title={t`Add highlights`} size="lg">
        <AddHighlights included={order.ids} isSaving={isSaving} onAdd={add} />
      </FormDialog>
    </>
  );
}

const titles = { share: msg`Public links`, edit: msg`Edit story`, delete: msg`Delete story` } as const;

function Head({ story, order }: { story: StoryBody; order: StoryOrder }) {
  const { t } = useLingui();
  const [dialog, setDialog] = useState<"share" | "edit" | "delete" | null>(null);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { title, description, tags, banner_image_url: banner } = story;
  const { highlights } = order;
  const count = highlights.length;
  return (
    <div>
      <BackLink to="/stories">{t`Stories`}</BackLink>
      <Group justify="space-between" align="flex-start" gap="xs" mt={4}>
        <Title
          order={1}
          size="h2"
          dir="auto"
          className={classes.grow ?? ""}
          style={{ overflowWrap: "anywhere" }}
        >
          {title}
        </Title>
        {story.can_change ? (
          <Group gap="xs" className={classes.actions ?? ""}>
            {highlights.length === 0 ? null : (
              <AddButton order={order} label={t`Add highlights`} variant="default" />
            )}
            <Button
              variant="default"
              size="xs"
              leftSection={<IconShare size={16} />}
              onClick={() => setDialog("share")}
            >
              <Trans>Share</Trans>
            </Button>
            <Button
              variant="default"
              size="xs"
              leftSection={<IconPencil size={16} />}
              onClick={() => setDialog("edit")}
            >
              <Trans>Edit</Trans>
            </Button>
            <Button
              variant="default"
              size="xs"
              leftSection={<IconTrash size={16} />}
              onClick={() => setDialog("delete")}
            >
              <Trans>Delete</Trans>
            </Button>
          </Group>
        ) : null}
      </Group>
      <Group gap={8} mt={8}>
        <Text size="sm" c="dimmed">
          <Plural value={count} one="# highlight" other="# highlights" /> ·{" "}
          {lengthInWords(lengthOf({ highlights }))}
        </Text>
        {tags.map((tag) => (
          <Badge key={tag} variant="default" tt="none" fw={500}>
            {tag}
          </Badge>
        ))}
      </Group>
      {description === "" ? null : (
        <Text mt="xs" maw={760} dir="auto" style={{ whiteSpace: "pre-line" }}>
          {description}
        </Text>
      )}
      <FormDialog
        opened={dialog !== null}
        onClose={() => setDialog(null)}
        title={dialog === null ? "" : t(titles[dialog])}
        size={dialog === "share" ? "lg" : "md"}
      >
        {dialog === "share" ? (
          <LazyLinkManager target={{ kind: "story", id: story.id }} title={title} />
        ) : null}
        {dialog === "edit" ? (
          <StoryForm
            storyId={story.id}
            verb={t`Save`}
            fields={{ title, description, tags, banner_image_url: banner ?? "" }}
            save={(fields) => updateStory(story.id, fields)}
            onSaved={(saved) => {
              queryClient.setQueryData(storyQuery(story.id).queryKey, saved);
              void queryClient.invalidateQueries({ queryKey: ["stories", "list"] });
              setDialog(null);
            }}
            onCancel={() => setDialog(null)}
          />
        ) : null}
        {dialog === "delete" ? (
          <ConfirmForm
            label={t`Delete story`}
            run={() => deleteStory(story.id)}
            onDone={() => {
              void queryClient.invalidateQueries({ queryKey: ["stories", "list"] });
              void navigate({ to: "/stories" });
            }}
            onCancel={() => setDialog(null)}
          >
            <Trans>This permanently deletes “{title}” for everyone. Its highlights stay.</Trans>
          </ConfirmForm>
        ) : null}
      </FormDialog>
    </div>
  );
}
