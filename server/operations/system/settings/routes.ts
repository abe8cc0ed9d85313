import * as providersContract from "../../../../contract/sign-in-providers.ts";
import * as contract from "../../../../contract/system-settings.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { type Api, Ready, route } from "../../../platform/http/routing/route.ts";
import { languageOf } from "../../../platform/language/request-language.ts";
import { refuseOtherWorkspaces } from "../operator.ts";
import { type Changer, changeSettings, describeSettings, listChanges, undoChange } from "./change.ts";
import { deleteProvider, describeProviders, saveProvider } from "./providers.ts";
import type { SignInTest } from "./sign-in-test.ts";
import { createSettingsTests } from "./test-settings.ts";

interface Dependencies {
  readonly db: Database;
  readonly encryptor: Encryptor;
  readonly config: Config;
  readonly signInTest: SignInTest;
  /** Reads the settings of the database now. */
  readonly followSettings: () => Promise<void>;
}

/** The settings of the installation, for admins of the operator's workspace. */
export function settingsRoutes(api: Api, deps: Dependencies): void {
  const { db, followSettings } = deps;
  const test = createSettingsTests(deps);
  const changerOf = (request: Parameters<typeof actorOf>[0] & { principal: Principal }): Changer => ({
    userId: request.principal.userId,
    actor: actorOf(request),
    host: request.headers.host ?? null,
  });

  route(api, contract.getSettings, async ({ principal }) => {
    await refuseOtherWorkspaces(db, principal);
    return { settings: await describeSettings(deps) };
  });

  route(api, contract.updateSettings, async ({ principal, request, body }) => {
    await refuseOtherWorkspaces(db, principal);
    await changeSettings(deps, body.settings, changerOf(request));
    await followSettings();
    return { settings: await describeSettings(deps) };
  });

  route(api, contract.testSettings, async ({ principal, body, request }) => {
    await refuseOtherWorkspaces(db, principal);
    const { emailKey: email, language = null } = principal;
    const receiver = { email, language: languageOf(request, language) };
    return test(body.test, body.settings ?? {}, receiver, body.provider);
  });

  route(api, contract.startSignInTest, async ({ principal, body }) => {
    await refuseOtherWorkspaces(db, principal);
    const { url, cookie } = await deps.signInTest.start(body.settings ?? {}, principal, body.provider);
    return new Ready(JSON.stringify({ url }), { "set-cookie": cookie });
  });

  route(api, providersContract.listSignInProviders, async ({ principal }) => {
    await refuseOtherWorkspaces(db, principal);
    return describeProviders(deps);
  });

  route(api, providersContract.saveSignInProvider, async ({ principal, params, request, body }) => {
    await refuseOtherWorkspaces(db, principal);
    await saveProvider(deps, params.provider_id, body, changerOf(request));
    await followSettings();
    return describeProviders(deps);
  });

  route(api, providersContract.deleteSignInProvider, async ({ principal, params, request }) => {
    await refuseOtherWorkspaces(db, principal);
    await deleteProvider(deps, params.provider_id, changerOf(request));
    await followSettings();
    return { success: true as const };
  });

  route(api, contract.listSettingChanges, async ({ principal }) => {
    await refuseOtherWorkspaces(db, principal);
    const changes = await listChanges(deps);
    return {
      changes: changes.map(({ id, names, changed_by, changed_at, can_undo }) => ({
        ...{ id, names, changed_by, can_undo },
        changed_datetime: changed_at.toISOString(),
      })),
    };
  });

  route(api, contract.undoSettingChange, async ({ principal, params, request }) => {
    await refuseOtherWorkspaces(db, principal);
    await undoChange(deps, params.change_id, changerOf(request));
    await followSettings();
    return { success: true as const };
  });
}
