import { Badge, Loader } from "@mantine/core";
import { isMoving, type UploadBody } from "../api/uploads.ts";
import { stateOf } from "./status.ts";

/** The colour of a state and of its word, which is dark (or light) enough to be read on it. */
const colours = {
  red: "light-dark(#a61e1e, var(--mantine-color-red-3))",
  teal: "light-dark(#066649, var(--mantine-color-teal-3))",
  yellow: "light-dark(#704600, var(--mantine-color-yellow-3))",
  gray: "light-dark(var(--mantine-color-gray-8), var(--mantine-color-gray-3))",
  indigo: "light-dark(var(--mantine-color-indigo-9), var(--mantine-color-indigo-2))",
} as const;

function colourOf({ status, auto_promote }: UploadBody): keyof typeof colours {
  if (status === "failure") return "red";
  if (status === "success") return "teal";
  if (status === "staged" && !auto_promote) return "yellow";
  return status === "awaiting" ? "gray" : "indigo";
}

/** Where an upload stands; the word says it, the colour goes with it. */
export function StateBadge({ upload, size = "md" }: { upload: UploadBody; size?: "md" | "lg" }) {
  const colour = colourOf(upload);
  const isTurning =
    isMoving(upload) && upload.status !== "awaiting" ? (
      <Loader size={10} color="currentColor" aria-hidden />
    ) : null;
  return (
    <Badge
      size={size}
      variant="light"
      tt="none"
      fw={600}
      color={colour}
      c={colours[colour]}
      leftSection={isTurning}
      style={{ flex: "none" }}
    >
      {stateOf(upload)}
    </Badge>
  );
}
