import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Badge, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus, IconStack2 } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { sessionQuery } from "../api/session.ts";
import { bannerUrl, createStory, lengthOf, type StoryBody, storiesQuery } from "../api/stories.ts";
import { FormDialog } from "../common/dialogs/form-dialog.tsx";
import { clock, dayAndTime, lengthInWords } from "../common/format/time.ts";
import { PageStack } from "../common/page-frame.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import classes from "./stories.module.css";
import { StoryForm } from "./story-form.tsx";

/** The workspace's stories. */
export function StoriesPage() {
  const { t } = useLingui();
  useTitle(t`Stories`);
  const [isCreating, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  const isViewer = useQuery(sessionQuery).data?.user.role === "viewer";
  const queryClient = useQueryClient();
  return (
    <PageStack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          <Trans>Stories</Trans>
        </Title>
        {isViewer ? null : (
          <Button leftSection={<IconPlus size={18} />} onClick={open}>
            <Trans>Create story</Trans>
          </Button>
        )}
      </Group>
      <Stories />
      <FormDialog opened={isCreating} onClose={close} title={t`New story`}>
        <StoryForm
          verb={t`Create story`}
          fields={{ title: "", description: "", tags: [] }}
          save={createStory}
          onSaved={({ id }) => {
            void queryClient.invalidateQueries({ queryKey: ["stories"] });
            void navigate({ to: "/stories/$storyId", params: { storyId: id } });
          }}
          onCancel={close}
        />
      </FormDialog>
    </PageStack>
  );
}

function Stories() {
  const { t } = useLingui();
  const query = useInfiniteQuery(storiesQuery);
  if (query.isPending) return <Skeleton height={260} radius="lg" aria-hidden />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const stories = query.data.pages.flatMap((page) => page.stories);
  if (stories.length === 0)
    return (
      <EmptyState
        title={t`No stories yet`}
        icon={<IconStack2 size={30} stroke={1.5} />}
        action={
          <Button variant="light" component={Link} to="/highlights">
            <Trans>View highlights</Trans>
          </Button>
        }
      >
        <Trans>Stories play highlights from several recordings in sequence.</Trans>
      </EmptyState>
    );
  return (
    <>
      <ul className={classes.grid} aria-label={t`Stories`}>
        {stories.map((story) => (
          <li key={story.id}>
            <StoryCard story={story} />
          </li>
        ))}
      </ul>
      {query.hasNextPage ? (
        <Group justify="center">
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
            <Trans>Show more</Trans>
          </Button>
        </Group>
      ) : null}
    </>
  );
}

function StoryCard({ story }: { story: StoryBody }) {
  const { highlights, tags, banner_image_url: banner } = story;
  const length = lengthOf(story);
  const count = highlights.length;
  return (
    <div className={classes.card}>
      <div className={classes.pictures}>
        {banner !== null ? (
          <img src={bannerUrl(story.id, banner)} alt="" loading="lazy" decoding="async" />
        ) : (
          highlights
            .slice(0, 3)
            .map(({ id, thumbnail_url }) => (
              <img key={id} src={thumbnail_url} alt="" loading="lazy" decoding="async" />
            ))
        )}
        {highlights.length === 0 ? <IconStack2 size={34} stroke={1.3} aria-hidden /> : null}
        {highlights.length === 0 ? null : (
          <span className={classes.length} role="img" aria-label={lengthInWords(length)}>
            {clock(length)}
          </span>
        )}
      </div>
      <Stack gap={4} p="sm">
        <Link to="/stories/$storyId" params={{ storyId: story.id }} className={classes.title ?? ""}>
          {story.title}
        </Link>
        <Text size="sm" c="dimmed">
          <Plural value={count} one="# highlight" other="# highlights" /> ·{" "}
          {dayAndTime(story.last_edited_datetime)}
        </Text>
        {story.description === "" ? null : (
          <Text size="sm" lineClamp={2}>
            {story.description}
          </Text>
        )}
        {tags.length === 0 ? null : (
          <Group gap={6}>
            {tags.map((tag) => (
              <Badge key={tag} variant="default" tt="none" fw={500}>
                {tag}
              </Badge>
            ))}
          </Group>
        )}
      </Stack>
    </div>
  );
}
