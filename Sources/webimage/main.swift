import WebImageCommands

await WebImageCommand.runAndExit()
