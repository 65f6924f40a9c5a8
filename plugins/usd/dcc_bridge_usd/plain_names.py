"""The plain part of USD's interface: it reads and edits prims, within undo.

Left out is all that takes or names a file: layers, references, payloads, asset paths, the stage's
own ``Open``, ``Save`` and ``Export``, and attributes in whose name a file is. Left out as well are
edit targets, listeners and plug-ins. Any thread.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.spi import LiteralArgument, PlainNames

_PRIMS: Final = """
    BBoxCache BasisCurves Boundable Camera Capsule Cone Cube Curves Cylinder Gprim Imageable Mesh
    NurbsCurves Plane PointBased PointInstancer Points Primvar PrimvarsAPI Scope Sphere Subset Xform
    XformCache XformCommonAPI XformOp Xformable
"""
_LIGHTS: Final = """
    BoundableLightBase CylinderLight DiskLight DistantLight DomeLight LightAPI RectLight ShadowAPI
    ShapingAPI SphereLight
"""
# Attributes of schemas, each with a getter and a maker.
_ATTRIBUTES: Final = """
    Angle Axis Basis ClippingRange Color ColorTemperature CornerIndices CornerSharpnesses
    CreaseIndices CreaseLengths CreaseSharpnesses CurveVertexCounts Diffuse DisplayColor
    DisplayOpacity DoubleSided EnableColorTemperature Exposure Extent FStop FaceVertexCounts
    FaceVertexIndices FocalLength FocusDistance Height HoleIndices HorizontalAperture
    HorizontalApertureOffset Id Ids Indices Intensity InterpolateBoundary InvisibleIds Length
    Normalize Normals Orientation Orientations Points Positions Projection ProtoIndices Purpose
    Radius Scales ShadowColor ShadowEnable ShapingConeAngle ShapingConeSoftness ShapingFocus
    ShapingFocusTint ShutterClose ShutterOpen Size Specular SubdivisionScheme TreatAsLine
    TreatAsPoint Type Velocities VerticalAperture VerticalApertureOffset Visibility Width Widths
    Wrap XformOpOrder
"""
_METHODS: Final = """
    AddOrientOp AddRotateXOp AddRotateXYZOp AddRotateYOp AddRotateZOp AddScaleOp AddTarget
    AddTransformOp AddTranslateOp AddVariant AddVariantSet AppendChild AppendPath AppendProperty
    Apply ApplyAPI ApplyEdits Bind Block CanApplyEdits Clear ClearActive ClearAtTime ClearDefault
    ClearInstanceable ClearTargets ClearVariantSelection ClearXformOpOrder ComputeAlignedBox
    ComputeAlignedRange ComputeBoundMaterial ComputeExtent ComputeLocalBound
    ComputeLocalToWorldTransform ComputeParentToWorldTransform ComputePurpose
    ComputeRelativeTransform ComputeUntransformedBound ComputeVisibility ComputeWorldBound
    ConnectToSource CreateAttribute CreateDisplacementOutput CreateIdAttr CreateInput
    CreateMaterialBindSubset CreateOutput CreatePrimvar CreatePrototypesRel CreateRelationship
    CreateSurfaceOutput CreateVolumeOutput CreateXformOpOrderAttr Decompose DecomposeRotation
    Default Define DefinePrim DeletePrimAtPath DisconnectSource EarliestTime ExtractRotation
    ExtractRotationMatrix ExtractTranslation Get GetAllChildren GetAllChildrenNames
    GetAncestorsRange GetAngle GetAppliedSchemas GetAttribute GetAttributeAtPath GetAxis GetBaseName
    GetBox GetCenter GetChild GetChildren GetChildrenNames GetColorSpace GetColumn GetCommonPrefix
    GetConnectedSource GetConnectedSources GetConnections GetCorner GetCustomData GetCustomDataByKey
    GetDefaultPrim GetDeterminant GetDirectBinding GetDirectBindingRel GetDisplayName
    GetDocumentation GetElementSize GetEndTimeCode GetFilteredChildren GetFilteredNextSibling
    GetForwardedTargets GetFramesPerSecond GetFullName GetImaginary GetIndices GetInput
    GetInterpolation GetInverse GetKind GetLength GetLocalTransformation GetMax GetMetadata
    GetMidpoint GetMin GetName GetNamespace GetNextSibling GetNormalized GetNumTimeSamples
    GetObjectAtPath GetOpName GetOpType GetOrderedXformOps GetOutput GetOutputs GetParent
    GetParentPath GetPath GetPrecision GetPrefixes GetPrim GetPrimAtPath GetPrimInPrototype
    GetPrimPath GetPrimTypeInfo GetPrimvar GetPrototype GetPrototypes GetPrototypesRel GetPseudoRoot
    GetQuat GetRange GetReal GetRelationship GetRelationshipAtPath GetRelationships
    GetResetXformStack GetRow GetSize GetSpecifier GetStage GetStartTimeCode GetSurfaceOutput
    GetTargets GetText GetTimeCodesPerSecond GetTimeSamples GetTransformOp GetTranspose GetTypeName
    GetValue GetVariantNames GetVariantSelection GetVariantSet GetVariantSets GetVolume
    GetXformVectors GetXformVectorsByAccumulation HasAPI HasAttribute HasAuthoredConnections
    HasAuthoredReferences HasAuthoredValue HasDefaultPrim HasPrefix HasPrimvar HasRelationship
    HasValue HasVariantSets IsA IsAbstract IsActive IsAuthored IsDefined IsEmpty IsGroup
    IsInPrototype IsInstance IsInstanceProxy IsInstanceable IsLoaded IsModel IsNumeric IsPseudoRoot
    IsRootPrimPath IsValid MakeAbsolutePath MakeInvisible MakeMatrixXform MakeVisible MovePrimAtPath
    Normalize OverridePrim PrecisionDouble PrecisionFloat RemovePrim RemovePrimvar RemoveProperty
    RemoveScaleShear RemoveTarget RenamePrim ReparentPrim ReplacePrefix RotationOrderXYZ
    RotationOrderZYX Set SetActive SetColorSpace SetColumn SetCustomData SetCustomDataByKey
    SetDefaultPrim SetDisplayName SetDocumentation SetElementSize SetEndTimeCode SetFramesPerSecond
    SetHidden SetIdentity SetIndices SetInstanceable SetInterpolation SetKind SetLookAt SetPivot
    SetQuat SetResetXformStack SetRotate SetRotateOnly SetRow SetScale SetSize SetStartTimeCode
    SetTargets SetTimeCodesPerSecond SetTransform SetTranslate SetTranslateOnly SetVariantSelection
    SetXformOpOrder SetXformVectors TimeCode Transform TransformAffine TransformDir Traverse
    TraverseAll TypeRotateX TypeRotateXYZ TypeRotateY TypeRotateZ TypeScale TypeTransform
    TypeTranslate UnbindAllBindings UnbindDirectBinding UnionWith isEmpty name pathString x y z
"""
_PATHS: Final = """
    Gf.* Kind.Tokens.* Sdf.ChangeBlock Sdf.Path Sdf.SpecifierClass Sdf.SpecifierDef
    Sdf.SpecifierOver Sdf.VariabilityUniform Sdf.VariabilityVarying Tf.MakeValidIdentifier
    Usd.ModelAPI Usd.NamespaceEditor Usd.PrimDefaultPredicate Usd.PrimIsActive Usd.PrimIsDefined
    Usd.PrimIsInstance Usd.PrimIsLoaded Usd.PrimIsModel Usd.PrimRange Usd.TimeCode
    Usd.TraverseInstanceProxies UsdGeom.GetStageMetersPerUnit UsdGeom.GetStageUpAxis
    UsdGeom.LinearUnits.* UsdGeom.SetStageMetersPerUnit UsdGeom.SetStageUpAxis UsdGeom.Tokens.*
    UsdLux.Tokens.* UsdShade.ConnectableAPI UsdShade.Material UsdShade.MaterialBindingAPI
    UsdShade.NodeGraph UsdShade.Shader UsdShade.Tokens.* Vt.*Array
"""
_VALUES: Final = """
    Bool BoolArray Color3d Color3dArray Color3f Color3fArray Color4f Color4fArray Double Double2
    Double3 Double3Array Double4 DoubleArray Float Float2 Float2Array Float3 Float3Array Float4
    FloatArray Half Int Int2 Int3 Int64 IntArray Matrix3d Matrix4d Matrix4dArray Normal3d Normal3f
    Normal3fArray Point3d Point3f Point3fArray Quatd Quatf QuatfArray Quath String StringArray
    TexCoord2f TexCoord2fArray TexCoord3f TimeCode Token TokenArray UInt Vector3d Vector3f
    Vector3fArray
"""
# A value that names a file stands in an attribute whose name says so: "inputs:texture:file".
_NO_FILE: Final = LiteralArgument(
    r"(?i)(?!.*(file|asset|path|texture|productname|source|script|code|icon)|.*ass$).*",
    0,
    ("name", "attrName", "path"),
)
# Written out, so that none has the type of an attribute that names a file.
_TYPE: Final = LiteralArgument(
    r"pxr\.Sdf\.ValueTypeNames\.(?!Asset)\w+", 1, ("typeName", "type"), is_path=True
)
# What renders, runs or loads by itself is made by its type.
_KIND: Final = LiteralArgument(
    r"(?!Render|.*(Procedural|OmniGraph|Clip|Asset|Volume)).*", 1, ("typeName",)
)
_VALUE: Final = LiteralArgument(
    r"(?!~|.*[/\\$`]|.*\.[A-Za-z][A-Za-z0-9]{0,7}$).*", 0, ("value",), or_number=True
)
_BY_NAME: Final = (
    *("CreateAttribute", "CreateInput", "GetAttribute"),
    *("CreateOutput", "CreatePrimvar", "GetAttributeAtPath", "GetInput", "GetObjectAtPath"),
    *("GetOutput", "GetPrimvar"),
)
_NUMBERS: Final = "Bool Double Float Int UInt Vec2d Vec2f Vec3d Vec3f Vec4d Vec4f Quatf Quath"
_MODULES: Final = ("Gf", "Kind", "Sdf", "Tf", "Usd", "UsdGeom", "UsdLux", "UsdShade", "Vt")
_CLOSES: Final = "CreateNew Open OpenMasked Reload SetPermissionToEdit SetPermissionToSave"

PLAIN: Final = PlainNames(
    modules=frozenset({"pxr", *(f"pxr.{name}" for name in _MODULES)}),
    paths=frozenset(
        f"pxr.{path}"
        for path in (
            *_PATHS.split(),
            *(f"UsdGeom.{name}" for name in _PRIMS.split()),
            *(f"UsdLux.{name}" for name in _LIGHTS.split()),
            *(f"Sdf.ValueTypeNames.{name}" for name in _VALUES.split()),
        )
    ),
    types=frozenset({"pxr.*.*"}),
    names=frozenset(
        [
            *_METHODS.split(),
            *(f"Create{name}Attr" for name in _ATTRIBUTES.split()),
            *(f"Get{name}Attr" for name in _ATTRIBUTES.split()),
        ]
    ),
    computes=frozenset({"pxr.Gf.*", *(f"pxr.Vt.{name}Array" for name in _NUMBERS.split())}),
    literals={
        **dict.fromkeys(_BY_NAME, (_NO_FILE,)),
        **{name: (_NO_FILE, _TYPE) for name in _BY_NAME if name.startswith("Create")},
        "DefinePrim": (_KIND,),
        "Set": (_VALUE,),
    },
    closes_scene=frozenset(_CLOSES.split()),
)
