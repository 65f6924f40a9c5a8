+ MAYAVERSION:2025 PLATFORM:linux dcc_bridge 0.1.0 ../dcc_bridge
PYTHONPATH+:=vendor/py311-linux
scripts: scripts
plug-ins: plug-ins

+ MAYAVERSION:2025 PLATFORM:win64 dcc_bridge 0.1.0 ../dcc_bridge
PYTHONPATH+:=vendor/py311-win64
scripts: scripts
plug-ins: plug-ins

+ MAYAVERSION:2025 PLATFORM:mac dcc_bridge 0.1.0 ../dcc_bridge
PYTHONPATH+:=vendor/py311-mac
scripts: scripts
plug-ins: plug-ins

+ MAYAVERSION:2026 PLATFORM:linux dcc_bridge 0.1.0 ../dcc_bridge
PYTHONPATH+:=vendor/py311-linux
scripts: scripts
plug-ins: plug-ins

+ MAYAVERSION:2026 PLATFORM:win64 dcc_bridge 0.1.0 ../dcc_bridge
PYTHONPATH+:=vendor/py311-win64
scripts: scripts
plug-ins: plug-ins

+ MAYAVERSION:2026 PLATFORM:mac dcc_bridge 0.1.0 ../dcc_bridge
PYTHONPATH+:=vendor/py311-mac
scripts: scripts
plug-ins: plug-ins
