import { Alert } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { transcriptExtensions } from "../../../shared/files/file-groups.ts";

/** The files that can be chosen as a transcript. */
export const transcriptPicker = [...transcriptExtensions, "txt"]
  .map((extension) => `.${extension}`)
  .join(",");

/** What of a chosen file could not be read, and what was assumed. */
export function FileWarnings({ texts }: { texts: readonly string[] }) {
  if (texts.length === 0) return null;
  return (
    <Alert
      mt="xs"
      color="yellow"
      variant="light"
      icon={<IconAlertTriangle size={18} aria-hidden />}
      p="xs"
      role="status"
    >
      {texts.map((text) => (
        <div key={text}>{text}</div>
      ))}
    </Alert>
  );
}
