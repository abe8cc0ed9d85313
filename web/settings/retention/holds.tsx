import { Anchor, Button, Group, Modal, Select, Stack, Textarea } from "@mantine/core";
import { useDebouncedValue, useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { peopleQuery } from "../../api/people.ts";
import { holdsQuery, type LegalHold, placeHold, releaseHold, titlesQuery } from "../../api/retention.ts";
import { FormError, fieldErrors, useAction } from "../../common/actions.tsx";
import { ConfirmButton } from "../../common/confirm.tsx";
import { day, dayAndTime, whenInLine } from "../../common/time.ts";
import { Loaded, NoneYet, Row, Rows, SettingsPage } from "../parts.tsx";

/** Recordings that nobody and no rule may delete. */
export function HoldsPage() {
  const holds = useQuery(holdsQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Legal holds"
      lead="What is held is deleted by nobody and by no rule, and stays as it is when a person is forgotten, until the hold is released. It can still be changed."
      action={
        <Button leftSection={<IconPlus size={18} />} onClick={open}>
          New hold
        </Button>
      }
    >
      <Loaded query={holds}>
        {({ legal_holds }) =>
          legal_holds.length === 0 ? (
            <NoneYet>Nothing is held.</NoneYet>
          ) : (
            <Rows label="Legal holds">
              {legal_holds.map((hold) => (
                <HoldRow key={hold.recording_id} hold={hold} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Modal opened={opened} onClose={close} title="New hold" centered>
        <HoldForm onDone={close} />
      </Modal>
    </SettingsPage>
  );
}

function HoldRow({ hold }: { hold: LegalHold }) {
  const people = useQuery(peopleQuery).data?.users ?? [];
  const [edits, { open, close }] = useDisclosure();
  const { recording, recording_id, reason, placed_by, placed_datetime } = hold;
  const name = recording?.title ?? "A recording you can't see";
  return (
    <Row
      title={
        recording === null ? (
          name
        ) : (
          <Anchor component={Link} to={`/recordings/${recording.id}` as string} fw={600} c="inherit">
            <span dir="auto">{recording.title}</span>
          </Anchor>
        )
      }
      facts={[
        reason,
        recording === null ? `id ${recording_id}` : dayAndTime(recording.start_datetime),
        `held by ${people.find(({ id }) => id === placed_by)?.name ?? "somebody who left"} since ${whenInLine(placed_datetime)}`,
      ]}
      actions={
        <>
          <Button variant="subtle" size="compact-sm" aria-label={`Change reason: ${name}`} onClick={open}>
            Change reason
          </Button>
          <ConfirmButton
            text="Release"
            button={{ "aria-label": `Release ${name}` }}
            title="Release the hold?"
            label="Release"
            run={() => releaseHold(recording_id)}
            done="The hold is released."
            refresh={[holdsQuery.queryKey]}
          >
            <b dir="auto">{name}</b> may be deleted again, by people and at once by rules that fit it. It was
            held because: {reason}
          </ConfirmButton>
        </>
      }
    >
      <Modal opened={edits} onClose={close} title="Why is it held?" centered>
        <HoldForm hold={hold} onDone={close} />
      </Modal>
    </Row>
  );
}

/** Places a hold, or gives the one that is there another reason. */
function HoldForm({ hold, onDone }: { hold?: LegalHold; onDone: () => void }) {
  const [recordingId, setRecordingId] = useState<string | null>(hold?.recording_id ?? null);
  const [reason, setReason] = useState(hold?.reason ?? "");
  const save = useAction({
    run: () => placeHold(recordingId ?? "", reason),
    done: hold === undefined ? "The recording is held." : "The reason is changed.",
    refresh: [holdsQuery.queryKey],
    showsError: true,
    onDone,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Stack>
        {hold === undefined ? <RecordingSelect value={recordingId} onChange={setRecordingId} /> : null}
        <Textarea
          label="Reason"
          description="Read by other admins before they release it."
          placeholder="Case 2026-14"
          required
          autosize
          minRows={2}
          maxRows={8}
          maxLength={1000}
          {...(hold === undefined ? {} : { "data-autofocus": true })}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={fieldErrors(save.error).reason}
        />
        <FormError error={save.error} fields={["reason"]} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending} disabled={recordingId === null}>
            {hold === undefined ? "Hold it" : "Save"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const idPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
const typingPauseMs = 300;

/** A recording found by its title, or named by its address or id where one can't see it. */
function RecordingSelect(props: { value: string | null; onChange: (id: string | null) => void }) {
  const [words, setWords] = useState("");
  const [settled] = useDebouncedValue(words.trim(), typingPauseMs);
  const id = idPattern.exec(settled)?.[0].toLowerCase();
  const [chosen, setChosen] = useState<{ value: string; label: string } | null>(null);
  // While one looks at what was chosen, its own label is no search.
  const isSearch = id === undefined && settled !== chosen?.label;
  const titles = useQuery({ ...titlesQuery(isSearch ? settled : ""), placeholderData: keepPreviousData });
  const found = (titles.data ?? []).map(({ id, title, start_datetime }) => ({
    value: id,
    label: `${title} (${day(start_datetime)})`,
  }));
  const data =
    id === undefined
      ? found
      : [found.find(({ value }) => value === id) ?? { value: id, label: `Recording ${id}` }];
  return (
    <Select
      label="Recording"
      description="Search by title. For one that you can't see, paste its address or id."
      placeholder="Title, address or id"
      required
      data-autofocus
      searchable
      clearable
      openOnFocus={false}
      limit={20}
      nothingFoundMessage={titles.isPending ? "Searching…" : "No recording that you see has this title."}
      data={chosen !== null && !data.some(({ value }) => value === chosen.value) ? [chosen, ...data] : data}
      // The server has searched already.
      filter={({ options }) => options}
      value={props.value}
      onSearchChange={setWords}
      onChange={(value, option) => {
        setChosen(option === null ? null : { value: option.value, label: option.label });
        props.onChange(value);
      }}
    />
  );
}
