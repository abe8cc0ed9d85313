import { useLingui } from "@lingui/react/macro";
import { Grants } from "../grants.tsx";
import { SettingsPage } from "../parts.tsx";

/** Apps with access to the user's account. */
export function AppsPage() {
  const { t } = useLingui();
  return (
    <SettingsPage
      title={t`Connected apps`}
      lead={t`Apps with access to your account. They can do what you can do until you revoke access.`}
    >
      <Grants of="me" />
    </SettingsPage>
  );
}
