import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Checkbox, Group, Modal, Stack, Text } from "@mantine/core";
import { IconFileText, IconPrinter } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import {
  type DocumentPart,
  documentParts,
  readDocumentParts,
} from "../../../contract/documents/document-parts.ts";
import { withoutExtension } from "../../../shared/files/download-name.ts";
import { downloadWordDocument } from "../../api/recording/document.ts";
import type { View } from "../../api/recording/recording.ts";
import { FormError, useAction } from "../../common/actions.tsx";
import { fileName } from "../../common/format/file-name.ts";
import { saveAs } from "../../common/save-as.ts";
import { useRecording } from "../context.ts";
import { missingPartTexts, partTitles } from "./part-texts.ts";

/** Chooses the parts of a Word document, or of a page to print. The choice is remembered on this device. */
export function DocumentDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useLingui();
  const { id, view } = useRecording();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState(readChoice);
  const parts = chosen.filter((part) => hasPart(view, part));
  const download = useAction({
    run: () => downloadWordDocument(id, parts),
    showsError: true,
    onDone: (file: Blob) => {
      saveAs(file, `${fileName(withoutExtension(view.recording.title, "docx"))}.docx`);
      onClose();
    },
  });
  const choose = (part: DocumentPart, isChosen: boolean): void => {
    const next = documentParts.filter((each) => (each === part ? isChosen : chosen.includes(each)));
    setChosen(next);
    writeChoice(next);
  };
  return (
    <Modal opened={isOpen} onClose={onClose} title={t`Word document or PDF`} size={540}>
      <Stack gap="md">
        <Text size="sm">
          <Trans>The document begins with the title, date and people. Choose what follows:</Trans>
        </Text>
        <Stack gap="xs" role="group" aria-label={t`Parts`}>
          {documentParts.map((part) => {
            const isThere = hasPart(view, part);
            return (
              <Checkbox
                key={part}
                label={t(partTitles[part])}
                description={isThere ? undefined : t(missingPartTexts[part])}
                disabled={!isThere}
                checked={isThere && chosen.includes(part)}
                onChange={(event) => choose(part, event.currentTarget.checked)}
              />
            );
          })}
        </Stack>
        <FormError error={download.error} fields={[]} />
        <Group justify="flex-end" gap="sm">
          <Button
            variant="default"
            leftSection={<IconPrinter size={18} stroke={1.6} aria-hidden />}
            disabled={parts.length === 0}
            onClick={() =>
              navigate({
                to: "/recordings/$recordingId/print",
                params: { recordingId: id },
                search: { parts: parts.join(","), print: true },
              })
            }
          >
            <Trans>Print or save as PDF</Trans>
          </Button>
          <Button
            leftSection={<IconFileText size={18} stroke={1.6} aria-hidden />}
            disabled={parts.length === 0}
            loading={download.isPending}
            onClick={() => download.mutate()}
          >
            <Trans>Download Word document</Trans>
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function hasPart({ recording, chapters, transcript }: View, part: DocumentPart): boolean {
  switch (part) {
    case "summary":
      return (
        (recording.ai_summary?.text.trim() ?? "") !== "" || (recording.ai_template_sections ?? []).length > 0
      );
    case "action_items":
      return (recording.ai_action_items ?? []).length > 0;
    case "chapters":
      return chapters.length > 0;
    case "highlights":
      return (recording.highlights ?? []).length > 0;
    case "transcript":
      return transcript.segments > 0;
  }
}

const storageKey = "parley.document";

function readChoice(): readonly DocumentPart[] {
  try {
    const stored = localStorage.getItem(storageKey);
    return stored === null ? documentParts : readDocumentParts(stored);
  } catch {
    // Storage is blocked.
    return documentParts;
  }
}

function writeChoice(parts: readonly DocumentPart[]): void {
  try {
    localStorage.setItem(storageKey, parts.join(","));
  } catch {
    // Storage is blocked or full: the choice lasts until the page is left.
  }
}
