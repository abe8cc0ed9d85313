import { Trans, useLingui } from "@lingui/react/macro";
import { Modal, Text, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import type { Session } from "../api/session.ts";
import { type PaletteItem, usePaletteGroups } from "./items.ts";
import classes from "./palette.module.css";

/** Goes to a page, recording or person, or performs an action, by typing. */
export function Palette(props: { session: Session; isOpen: boolean; onClose: () => void }) {
  const { t } = useLingui();
  return (
    <Modal
      opened={props.isOpen}
      onClose={props.onClose}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="12vh"
      attributes={{ content: { "aria-label": t`Command palette` } }}
    >
      <Choices session={props.session} onClose={props.onClose} />
    </Modal>
  );
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

function Choices({ session, onClose }: { session: Session; onClose: () => void }) {
  const { t } = useLingui();
  const [query, setQuery] = useState("");
  const [activeId, setActive] = useState<string | null>(null);
  const groups = usePaletteGroups(query, session);
  const items = groups.flatMap((group) => group.items);
  const active = items.find(({ id }) => id === activeId) ?? items[0];
  const listId = useId();
  const idOf = (item: PaletteItem): string => `${listId}-${item.id}`;
  const elementId = active === undefined ? undefined : idOf(active);
  useEffect(() => {
    if (elementId !== undefined) document.getElementById(elementId)?.scrollIntoView({ block: "nearest" });
  }, [elementId]);
  const choose = (item: PaletteItem): void => {
    onClose();
    item.choose();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step !== undefined && active !== undefined) {
      const next = items[(items.indexOf(active) + step + items.length) % items.length];
      setActive(next?.id ?? null);
    } else if (event.key === "Enter" && active !== undefined) choose(active);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        data-autofocus
        size="md"
        role="combobox"
        aria-label={t`Search pages, recordings, people and actions`}
        placeholder={t`Search pages, recordings, people and actions`}
        aria-expanded={items.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={elementId}
        leftSection={<IconSearch size={18} stroke={1.6} aria-hidden />}
        maxLength={200}
        value={query}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setActive(null);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label={t`Results`} className={classes.list}>
        {groups.map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options, not of form fields.
          <div key={group.label} role="group" aria-label={group.label}>
            <Text size="xs" fw={600} c="dimmed" px="sm" pt="xs" aria-hidden>
              {group.label}
            </Text>
            {group.items.map((item) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field, which keeps the focus.
              // biome-ignore lint/a11y/useFocusableInteractive: the field names the active option.
              <div
                key={item.id}
                id={idOf(item)}
                role="option"
                aria-selected={item === active}
                className={classes.item}
                onClick={() => choose(item)}
                onMouseMove={() => setActive(item.id)}
              >
                <span dir="auto">{item.label}</span>
                {item.detail === undefined ? null : <small dir="auto">{item.detail}</small>}
              </div>
            ))}
          </div>
        ))}
      </div>
      {items.length === 0 ? (
        <Text p="md" c="dimmed" role="status">
          <Trans>No results</Trans>
        </Text>
      ) : null}
    </>
  );
}
