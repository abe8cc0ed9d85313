import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { PasswordInput, Select, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { isUnencrypted } from "../../../contract/accounts/redirect-target.ts";
import {
  type Connection,
  connectionsQuery,
  createConnection,
  type NewConnection,
} from "../../api/settings/connections.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { serviceLabels } from "./services.ts";

type Kind = Connection["kind"];
type FieldName = Exclude<keyof NewConnection, "kind" | "allow_http" | "media_hosts"> | "media_hosts";

interface Field {
  readonly name: FieldName;
  readonly label: MessageDescriptor;
  readonly description?: MessageDescriptor;
  readonly isSecret?: boolean;
  readonly isRequired?: boolean;
}

const common: readonly Field[] = [{ name: "name", label: msg`Name`, isRequired: true }];

const ofBots: readonly Field[] = [
  {
    name: "base_url",
    label: msg`URL`,
    description: msg`The URL of the service and its API.`,
    isRequired: true,
  },
  { name: "api_key", label: msg`API key`, isSecret: true, isRequired: true },
];

const mediaHosts: Field = {
  name: "media_hosts",
  label: msg`Hosts of files`,
  description: msg`If files come from another host, such as an S3 bucket: .s3.amazonaws.com. Separate several with commas.`,
};

const fields: Readonly<Record<Kind, readonly Field[]>> = {
  zoom: [
    {
      ...{ name: "webhook_secret", label: msg`Secret token`, isSecret: true, isRequired: true },
      description: msg`Shown in your Zoom app under Features → Access.`,
    },
    {
      ...{ name: "account_id", label: msg`Account ID` },
      description: msg`From a server-to-server OAuth app. Needed for participants' emails, and for downloads after 24 hours.`,
    },
    { name: "client_id", label: msg`Client ID` },
    { name: "client_secret", label: msg`Client secret`, isSecret: true },
  ],
  attendee: [
    ...ofBots,
    {
      ...{ name: "webhook_secret", label: msg`Webhook secret`, isSecret: true, isRequired: true },
      description: msg`Shown in Attendee under Settings → Webhooks.`,
    },
    mediaHosts,
  ],
  vexa: [
    ...ofBots,
    {
      ...{ name: "webhook_secret", label: msg`Webhook secret`, isSecret: true, isRequired: true },
      description: msg`The webhook_secret that you set in Vexa.`,
    },
    mediaHosts,
  ],
};

/** Creates a connection. */
export function ConnectionForm({ onDone }: { onDone: () => void }) {
  const { t } = useLingui();
  const [kind, setKind] = useState<Kind>("zoom");
  const [values, setValues] = useState<Partial<Record<FieldName, string>>>({});
  const [allowsHttp, setAllowsHttp] = useState(false);
  const shown = [...common, ...fields[kind]];
  const create = useForm({
    run: () => createConnection(bodyOf(kind, shown, values, allowsHttp)),
    done: t`Connection created. Enter its webhook URL in the service.`,
    refresh: [connectionsQuery.queryKey],
    onDone,
  });
  const isIncomplete = shown.some(({ name, isRequired }) => isRequired && !values[name]?.trim());
  return (
    <Form form={create} label={t`Create connection`} isDisabled={isIncomplete}>
      <Select
        label={t`Service`}
        data={Object.entries(serviceLabels).map(([value, label]) => ({ value, label }))}
        value={kind}
        allowDeselect={false}
        onChange={(value) => {
          setKind((value ?? "zoom") as Kind);
          create.reset();
        }}
      />
      {shown.map(({ name, label, description, isSecret = false, isRequired = false }) => {
        const Input = isSecret ? PasswordInput : TextInput;
        return (
          <Input
            key={`${kind} ${name}`}
            label={t(label)}
            description={description === undefined ? undefined : t(description)}
            required={isRequired}
            autoComplete="off"
            value={values[name] ?? ""}
            onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            error={create.errorOf(name)}
          />
        );
      })}
      {kind !== "zoom" && isUnencrypted(values.base_url ?? "") ? (
        <Switch
          label={t`Connect without encryption`}
          description={t`The API key and recordings can be intercepted.`}
          checked={allowsHttp}
          onChange={(event) => setAllowsHttp(event.currentTarget.checked)}
        />
      ) : null}
    </Form>
  );
}

function bodyOf(
  kind: Kind,
  shown: readonly Field[],
  values: Partial<Record<FieldName, string>>,
  allowsHttp: boolean,
): NewConnection {
  const filled = shown.flatMap(({ name }) => {
    const value = values[name]?.trim() ?? "";
    return value === "" || name === "media_hosts" ? [] : [[name, value] as const];
  });
  const given: object = Object.fromEntries(filled);
  const hosts = (values.media_hosts ?? "").split(",").flatMap((host) => host.trim() || []);
  return {
    ...(given as Omit<NewConnection, "kind">),
    kind,
    ...(kind === "zoom" ? {} : { media_hosts: hosts }),
    ...(allowsHttp ? { allow_http: true } : {}),
  };
}
