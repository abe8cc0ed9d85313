import { Alert, Button, Checkbox, Group, List, Modal, Progress, Stack, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/client.ts";
import type { LibraryItem } from "../../api/library.ts";
import { bytes } from "../../common/format/bytes.ts";
import { counted } from "../../common/format/count.ts";
import { saveAs } from "../../common/save-as.ts";
import { type Progress as Collected, collect, TooLargeError } from "./collect.ts";

export interface ExportDialogProps {
  readonly isOpen: boolean;
  readonly items: readonly LibraryItem[];
  readonly onClose: () => void;
}

/** Recordings named that could not be exported; the rest is counted. */
const maxNamed = 5;

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly progress: Collected }
  | { readonly kind: "failed"; readonly text: string }
  | {
      readonly kind: "done";
      readonly failed: readonly { title: string; reason: string }[];
      readonly size: number;
    };

/** Exports recordings as one ZIP file, with progress. Closing the dialog cancels it. */
export function ExportDialog({ isOpen, items, onClose }: ExportDialogProps) {
  // The selection may change while this is open, when the list is refreshed.
  const [shown, setShown] = useState(items);
  useEffect(() => {
    if (!isOpen) setShown(items);
  }, [isOpen, items]);
  return (
    <Modal opened={isOpen} onClose={onClose} title={`Export: ${counted(shown.length, "recording")}`}>
      {isOpen ? <Form items={shown} onClose={onClose} /> : null}
    </Modal>
  );
}

function Form({ items, onClose }: Omit<ExportDialogProps, "isOpen">) {
  const [hasMedia, setMedia] = useState(true);
  const { state, start } = useExport(items);
  return (
    <Stack>
      <Text size="sm">
        A ZIP file with a folder for each recording: transcript (text and WebVTT) and data (JSON).
      </Text>
      <Checkbox
        label="Include video and audio files"
        checked={hasMedia}
        disabled={state.kind === "running"}
        onChange={(event) => setMedia(event.currentTarget.checked)}
      />
      <Outcome state={state} total={items.length} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {state.kind === "done" ? "Close" : "Cancel"}
        </Button>
        <Button data-autofocus loading={state.kind === "running"} onClick={() => void start(hasMedia)}>
          Export
        </Button>
      </Group>
    </Stack>
  );
}

function useExport(items: readonly LibraryItem[]) {
  const [state, setState] = useState<State>({ kind: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const start = async (hasMedia: boolean) => {
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    const onProgress = (progress: Collected) => {
      if (!signal.aborted) setState({ kind: "running", progress });
    };
    onProgress({ done: 0, bytes: 0 });
    try {
      const { zip, failed } = await collect(items, { hasMedia, onProgress, signal });
      if (failed.length < items.length)
        saveAs(zip, `recordings-${new Date().toISOString().slice(0, 10)}.zip`);
      setState({ kind: "done", failed, size: zip.size });
    } catch (error) {
      if (!signal.aborted) setState({ kind: "failed", text: textOf(error) });
    }
  };
  return { state, start };
}

function textOf(error: unknown): string {
  if (error instanceof TooLargeError)
    return "The files exceed 4 GB. Select fewer recordings, or leave out video and audio files.";
  return error instanceof ApiError ? error.message : "Something went wrong. Try again.";
}

function Outcome({ state, total }: { state: State; total: number }) {
  if (state.kind === "idle") return null;
  if (state.kind === "failed")
    return (
      <Alert color="red" role="alert" title="Couldn't export">
        {state.text}
      </Alert>
    );
  if (state.kind === "running") {
    const { done, bytes: read } = state.progress;
    return (
      <div>
        <Progress value={(done / total) * 100} aria-label="Export progress" />
        <Text size="sm" c="dimmed" mt={6}>
          {done} of {counted(total, "recording")}, {bytes(read)}
        </Text>
      </div>
    );
  }
  const { failed, size } = state;
  return (
    <div role="status">
      {failed.length < total ? (
        <Text size="sm">
          {counted(total - failed.length, "recording")} exported ({bytes(size)}).
        </Text>
      ) : null}
      {failed.length === 0 ? null : (
        <Alert color="red" title={`${counted(failed.length, "recording")} couldn't be exported`} mt="xs">
          <List size="sm">
            {failed.slice(0, maxNamed).map(({ title, reason }) => (
              <List.Item key={title}>
                <span dir="auto">{title}</span>: {reason}
              </List.Item>
            ))}
            {failed.length > maxNamed ? <List.Item>{`${failed.length - maxNamed} more`}</List.Item> : null}
          </List>
        </Alert>
      )}
    </div>
  );
}
