import { DragDropContext, Draggable, Droppable } from "@hello-pangea/dnd";
import { ActionIcon, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { IconGripVertical, IconX } from "@tabler/icons-react";
import { useEffect } from "react";
import type { HighlightBody } from "../api/highlights.ts";
import { clock } from "../common/time.ts";
import classes from "./stories.module.css";

/** The nonce that this page's styles carry. */
function pageNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
}

/**
 * The drag library ends a drag by keys at every `resize` that passes the window. A film whose head arrives sends one, too,
 * and that is no reason: only those of the window itself get through.
 */
function useKeepDragging(): void {
  useEffect(() => {
    const hold = (event: Event): void => {
      if (event.target !== window) event.stopImmediatePropagation();
    };
    // Before those that the library adds when a drag begins.
    window.addEventListener("resize", hold, true);
    return () => window.removeEventListener("resize", hold, true);
  }, []);
}

/** A story's highlights in their order, which is changed by drag or by Space and the arrows. */
export function StoryList(props: {
  highlights: readonly HighlightBody[];
  at: number;
  onPlay: (highlightId: string) => void;
  /** null: the reader may not change it. */
  onOrder: ((highlightIds: string[]) => void) | null;
}) {
  const { highlights, at, onPlay, onOrder } = props;
  const ids = highlights.map(({ id }) => id);
  useKeepDragging();
  return (
    <section aria-label="Order">
      {onOrder === null ? null : (
        <Text size="sm" c="dimmed" mb={6}>
          Drag to reorder, or press Space on a handle and move with the arrows.
        </Text>
      )}
      <DragDropContext
        nonce={pageNonce()}
        dragHandleUsageInstructions="Press Space to lift it, the arrows to move it, Space to put it down, Escape to leave it."
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
                          aria-label={`Move ${highlight.text}`}
                        >
                          <IconGripVertical size={18} aria-hidden />
                        </span>
                      )}
                      <UnstyledButton
                        className={classes.pick ?? ""}
                        aria-current={index === at ? "true" : undefined}
                        onClick={() => onPlay(highlight.id)}
                      >
                        <VisuallyHidden>Play</VisuallyHidden>
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
                          aria-label={`Remove ${highlight.text} from the story`}
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
