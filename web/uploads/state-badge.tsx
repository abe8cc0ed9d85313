import { Badge, Loader } from "@mantine/core";
import { isInProgress, type UploadBody } from "../api/uploads.ts";
import { stateOf } from "./status.ts";

/** Text colors with sufficient contrast on each badge color. */
const textColors = {
  red: "light-dark(#a61e1e, var(--mantine-color-red-3))",
  teal: "light-dark(#066649, var(--mantine-color-teal-3))",
  yellow: "light-dark(#704600, var(--mantine-color-yellow-3))",
  gray: "light-dark(var(--mantine-color-gray-8), var(--mantine-color-gray-3))",
  indigo: "light-dark(var(--mantine-color-indigo-9), var(--mantine-color-indigo-2))",
} as const;

function colorOf({ status, auto_promote }: UploadBody): keyof typeof textColors {
  if (status === "failure") return "red";
  if (status === "success") return "teal";
  if (status === "staged" && !auto_promote) return "yellow";
  return status === "awaiting" ? "gray" : "indigo";
}

/** The state of an upload as a badge. */
export function StateBadge({ upload, size = "md" }: { upload: UploadBody; size?: "md" | "lg" }) {
  const color = colorOf(upload);
  const spinner =
    isInProgress(upload) && upload.status !== "awaiting" ? (
      <Loader size={10} color="currentColor" aria-hidden />
    ) : null;
  return (
    <Badge
      size={size}
      variant="light"
      tt="none"
      fw={600}
      color={color}
      c={textColors[color]}
      leftSection={spinner}
      style={{ flex: "none" }}
    >
      {stateOf(upload)}
    </Badge>
  );
}
