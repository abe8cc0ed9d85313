import type { MessageDescriptor } from "@lingui/core";
import { msg, plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Accordion, PasswordInput, SegmentedControl, Select, Switch, Text, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import {
  addCalendar,
  type CalendarKind,
  calendarsQuery,
  discoverCalendars,
  type FoundCalendar,
  meetingsQuery,
} from "../../api/calendars.ts";
import { sessionQuery } from "../../api/session.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { Form, useForm } from "../../common/forms/form.tsx";

/** Where each service shows what to enter. */
const services: Readonly<
  Record<CalendarKind, readonly (readonly [service: string, where: MessageDescriptor])[]>
> = {
  ics: [
    [
      "Google Calendar",
      msg`In a browser: Settings → your calendar at the left → Integrate calendar → Secret address in iCal format.`,
    ],
    [
      "Outlook",
      msg`In Outlook on the web: Settings → Calendar → Shared calendars → Publish a calendar → Can view all details → ICS link.`,
    ],
    [
      "Proton Calendar",
      msg`Settings → All settings → Calendars → your calendar → Share with anyone → Create link → Full view.`,
    ],
    ["Nextcloud", msg`The pencil beside the calendar → Share link → Copy subscription link.`],
    [
      "Apple iCloud",
      msg`Public calendars have a webcal link under Share Calendar. For a private one choose CalDAV.`,
    ],
  ],
  caldav: [
    [
      "Nextcloud",
      msg`URL: your server followed by /remote.php/dav. Create the password in Settings → Security → Devices & sessions.`,
    ],
    [
      "Apple iCloud",
      msg`URL: https://caldav.icloud.com. User name: your Apple Account. Create the password at account.apple.com → App-Specific Passwords.`,
    ],
    [
      "Fastmail",
      msg`URL: https://caldav.fastmail.com. Create the password in Settings → Privacy & Security.`,
    ],
    ["Google, Outlook, Proton", msg`They take no app password for CalDAV. Choose the secret URL instead.`],
  ],
};

interface DialogProps {
  readonly isOpen: boolean;
  /** For recordings of all users. */
  readonly isRoom: boolean;
  readonly onClose: () => void;
}

/** Adds a calendar, which the server reads before it says that it was added. */
export function CalendarDialog({ isOpen, isRoom, onClose }: DialogProps) {
  const { t } = useLingui();
  return (
    <FormDialog
      opened={isOpen}
      onClose={onClose}
      title={isRoom ? t`Add room calendar` : t`Add calendar`}
      centered
      size="lg"
    >
      {isOpen ? <CalendarForm isRoom={isRoom} onClose={onClose} /> : null}
    </FormDialog>
  );
}

function CalendarForm({ isRoom, onClose }: Pick<DialogProps, "isRoom" | "onClose">) {
  const { t } = useLingui();
  // Secrets are not kept in the browser.
  const [kind, setKind] = useState<CalendarKind>("ics");
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [allowsHttp, setAllowsHttp] = useState(false);
  const account = JSON.stringify([kind, url, username, password]);
  // Of the account that was entered when they were found.
  const [found, setFound] = useState<{ account: string; calendars: readonly FoundCalendar[] } | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const choices = found?.account === account ? found.calendars : [];
  const isPlain = /^http:/i.test(url.trim());
  const add = useForm({
    run: async () => {
      const allowHttp = { allow_http: isPlain && allowsHttp };
      if (kind === "caldav" && choices.length === 0) {
        const { calendars } = await discoverCalendars({ url, username, password, ...allowHttp });
        if (calendars.length > 1) return calendars;
      }
      await addCalendar({
        kind,
        url: choices.length === 0 ? url : (chosen ?? url),
        is_room: isRoom,
        ...allowHttp,
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        ...(name.trim() === "" ? {} : { name }),
        ...(kind === "caldav" ? { username, password } : {}),
      });
      return null;
    },
    refresh: [calendarsQuery.queryKey, meetingsQuery.queryKey, sessionQuery.queryKey],
    onDone: (calendars) => {
      if (calendars === null) {
        notifications.show({ message: t`Calendar added.` });
        onClose();
        return;
      }
      setFound({ account, calendars });
      setChosen(calendars[0]?.url ?? null);
    },
  });
  return (
    <Form form={add} label={isRoom ? t`Add room calendar` : t`Add calendar`} onCancel={onClose}>
      <SegmentedControl
        fullWidth
        aria-label={t`How it is read`}
        data={[
          { value: "ics", label: t`Secret URL` },
          { value: "caldav", label: t`CalDAV with a password` },
        ]}
        value={kind}
        onChange={(value) => setKind(value === "caldav" ? "caldav" : "ics")}
      />
      <Accordion variant="contained" radius="md">
        <Accordion.Item value="where">
          <Accordion.Control>
            {kind === "ics" ? t`Where to find the URL` : t`Where to find URL and password`}
          </Accordion.Control>
          <Accordion.Panel>
            {services[kind].map(([service, where]) => (
              <Text key={service} size="sm" mb={6}>
                <strong>{service}</strong>: {t(where)}
              </Text>
            ))}
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
      <TextInput
        label="URL"
        description={t`It is stored encrypted and not shown again.`}
        placeholder={
          kind === "ics" ? "https://calendar.example/secret/basic.ics" : "https://cloud.example/dav"
        }
        required
        autoComplete="off"
        inputMode="url"
        maxLength={2000}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        error={add.errorOf("url")}
      />
      {isPlain ? (
        <Switch
          label={t`Read it without encryption`}
          description={t`The URL and password are sent in clear text. Use https if the server has it.`}
          checked={allowsHttp}
          onChange={(event) => setAllowsHttp(event.currentTarget.checked)}
        />
      ) : null}
      {kind === "caldav" ? (
        <>
          <TextInput
            label={t`User name`}
            required
            autoComplete="off"
            maxLength={500}
            value={username}
            onChange={(event) => setUsername(event.currentTarget.value)}
            error={add.errorOf("username")}
          />
          <PasswordInput
            visibilityToggleButtonProps={{ "aria-label": t`Show password` }}
            label={t`App password`}
            description={t`A password for this app alone, not the one you sign in with.`}
            required
            autoComplete="off"
            maxLength={500}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={add.errorOf("password")}
          />
        </>
      ) : null}
      {choices.length === 0 ? null : (
        <Select
          label={t`Calendar`}
          description={plural(choices.length, {
            one: "The account has # calendar. Choose the one to add.",
            other: "The account has # calendars. Choose the one to add.",
          })}
          required
          allowDeselect={false}
          data={choices.map((one) => ({ value: one.url, label: one.name }))}
          value={chosen}
          onChange={setChosen}
        />
      )}
      <TextInput
        label={t`Name`}
        placeholder={t`The calendar's own name`}
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={add.errorOf("name")}
      />
    </Form>
  );
}
