import { DragDropContext, Draggable, Droppable } from "@hello-pangea/dnd";
import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { IconGripVertical, IconX } from "@tabler/icons-react";
import { useEffect } from "react";
import type { HighlightBody } from "../api/highlights.ts";
import { clock } from "../common/format/time.ts";
import classes from "./stories.module.css";

/** The nonce that this page's styles carry. */
function pageNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
}

/**
 * The drag library ends a keyboard drag on every `resize` event that reaches the window. Video elements fire one when their
 * metadata loads, so only the window's own events are let through.
 */
function useKeepDragging(): void {
  useEffect(() => {
    const hold = (event: Event): void => {
      if (event.target !== window) event.stopImmediatePropagation();
    };
    // Registered before the library's listeners, which it adds when a drag starts.
    window.addEventListener("resize", hold, true);
    return () => window.removeEventListener("resize", hold, true);
  }, []);
}

/** A story's highlights, reordered by dragging or with Space and the arrow keys. */
export function StoryList(props: {
  highlights: readonly HighlightBody[];
  at: number;
  onPlay: (highlightId: string) => void;
  /** null if the user can't change the story. */
  onOrder: ((highlightIds: string[]) => void) | null;
}) {
  const { t } = useLingui();
  const { highlights, at, onPlay, onOrder } = props;
  const ids = highlights.map(({ id }) => id);
  useKeepDragging();
  return (
    <section aria-label={t`Order`}>
      {onOrder === null ? null : (
        <Text size="sm" c="dimmed" mb={6}>
          <Trans>Drag to reorder, or press Space on a handle and use the arrow keys.</Trans>
        </Text>
      )}
      <DragDropContext
        nonce={pageNonce()}
        dragHandleUsageInstructions={t`Press Space to lift, arrow keys to move, Space to drop, Escape to cancel.`}
        onDragEnd={({ source, destination }) => {
          if (!destination || destination.index === source.index) return;
          const moved = ids.filter((_, index) => index !== source.index);
          moved.splice(destination.index, 0, ids[source.index] as string);
          onOrder?.(moved);
        }}
      >
        <Droppable droppableId="story">
          {(drop) => (
            <ol className={classes.order} ref={drop.innerRef} {...drop.droppableProps}>
              {highlights.map((highlight, index) => (
                <Draggable
                  key={highlight.id}
                  draggableId={highlight.id}
                  index={index}
                  isDragDisabled={onOrder === null}
                >
                  {(drag, { isDragging }) => (
                    <li
                      ref={drag.innerRef}
                      {...drag.draggableProps}
                      className={classes.item}
                      data-on={index === at || undefined}
                      data-dragged={isDragging || undefined}
                    >
                      {onOrder === null ? null : (
                        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: the library makes it a button.
                        <span
                          {...drag.dragHandleProps}
                          className={classes.handle}
                          aria-label={t`Move ${{ title: highlight.text }}`}
                        >
                          <IconGripVertical size={18} aria-hidden />
                        </span>
                      )}
                      <UnstyledButton
                        className={classes.pick ?? ""}
                        aria-current={index === at ? "true" : undefined}
                        onClick={() => onPlay(highlight.id)}
                      >
                        <VisuallyHidden>
                          <Trans>Play</Trans>
                        </VisuallyHidden>
                        <img src={highlight.thumbnail_url} alt="" loading="lazy" decoding="async" />
                        <span className={classes.grow}>
                          <Text size="sm" fw={600} lineClamp={2} component="span">
                            {highlight.text}
                          </Text>
                          <Text size="xs" c="dimmed" component="span" display="block">
                            {clock(highlight.duration)}
                          </Text>
                        </span>
                      </UnstyledButton>
                      {onOrder === null ? null : (
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          aria-label={t`Remove ${{ title: highlight.text }} from story`}
                          onClick={() => onOrder(ids.filter((id) => id !== highlight.id))}
                        >
                          <IconX size={16} />
                        </ActionIcon>
                      )}
                    </li>
                  )}
                </Draggable>
              ))}
              {drop.placeholder}
            </ol>
          )}
        </Droppable>
      </DragDropContext>
    </section>
  );
}
