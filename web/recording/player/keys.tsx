import { Group, Kbd, Modal, Switch, Table, Text } from "@mantine/core";
import { useEffect, useRef } from "react";
import { usePlaybackState, useWatching } from "../watching.ts";
import { toggleFullScreen } from "./screen.ts";

const editing = "Edit the line";

const keys: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["Space", "K"], "Play or pause"],
  [["J", "L"], "10 seconds back, on"],
  [["←", "→"], "5 seconds back, on"],
  [["<", ">"], "Slower, faster"],
  [["M"], "Sound off or on"],
  [["C"], "Captions"],
  [["F"], "Full screen"],
  [["/"], "Search in the transcript"],
  [["↑", "↓"], "From line to line, in the transcript"],
  [["Shift", "↑", "↓"], "Select lines, to clip or copy them"],
  [["Enter"], "Play from the line"],
  [["E"], editing],
  [["?"], "This help"],
];

interface Shortcuts {
  readonly onFind: () => void;
  readonly onHelp: () => void;
}

/** Listens for the keys of the page, wherever no field, dialog or menu has them. */
export function useKeys({ onFind, onHelp }: Shortcuts): void {
  const { playback, hasMedia } = useWatching();
  const latest = useRef({ onFind, onHelp });
  latest.current = { onFind, onHelp };
  useEffect(() => {
    const actions: Readonly<Record<string, () => void>> = {
      " ": playback.toggle,
      k: playback.toggle,
      j: () => playback.skip(-10_000),
      l: () => playback.skip(10_000),
      arrowleft: () => playback.skip(-5000),
      arrowright: () => playback.skip(5000),
      "<": () => playback.stepRate(-1),
      ">": () => playback.stepRate(1),
      m: playback.toggleMute,
      c: playback.toggleCaptions,
      f: () => toggleFullScreen(document.querySelector<HTMLElement>('section[aria-label="Player"]')),
    };
    const actionOf = (key: string): (() => void) | undefined => {
      if (!playback.getState().hasKeys) return undefined;
      if (key === "/") return latest.current.onFind;
      return hasMedia ? actions[key.toLowerCase()] : undefined;
    };
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTaken(event)) return;
      // Help alone is there when the keys are off: it holds the switch.
      const action = event.key === "?" ? latest.current.onHelp : actionOf(event.key);
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [playback, hasMedia]);
}

const fields = "input, textarea, select, [contenteditable=true]";
const layers = '[role="dialog"], [role="menu"], [role="listbox"]';
/** What does something of its own by the space bar, or by arrows. */
const pressed =
  "button, a[href], summary, [role=button], [role=slider], [role=tab], [role=checkbox], [role=radio]";
const moved = "[role=slider], [role=tab], [role=radio]";

function isTaken(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : null;
  if (target === null) return false;
  if (target.closest(fields) !== null || target.closest(layers) !== null) return true;
  if (event.key === " ") return target.closest(pressed) !== null;
  return event.key.startsWith("Arrow") && target.closest(moved) !== null;
}

/** What the keys do, and the switch that turns them off (WCAG 2.1.4). */
export function KeysHelp(props: { isOpen: boolean; onClose: () => void; isReadOnly?: boolean }) {
  const { isOpen, onClose, isReadOnly = false } = props;
  const { playback } = useWatching();
  const hasKeys = usePlaybackState((state) => state.hasKeys);
  const shown = isReadOnly ? keys.filter(([, text]) => text !== editing) : keys;
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keys">
      <Table verticalSpacing={6} withRowBorders={false}>
        <Table.Tbody>
          {shown.map(([names, text]) => (
            <Table.Tr key={text}>
              <Table.Td w={120}>
                <Group gap={6}>
                  {names.map((name) => (
                    <Kbd key={name}>{name}</Kbd>
                  ))}
                </Group>
              </Table.Td>
              <Table.Td>{text}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Switch
        mt="md"
        label="Use these keys"
        description="Off, only ? opens this help. Kept on this device."
        checked={hasKeys}
        onChange={(event) => playback.setKeys(event.currentTarget.checked)}
      />
      <Text size="sm" c="dimmed" mt="md">
        In a field, keys write.
      </Text>
    </Modal>
  );
}
